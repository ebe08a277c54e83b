#include "options.hpp"

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <charconv>
#include <iostream>

#include <distrun/common/base/duration.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/daemon/address.hpp>

namespace distrun::daemon {
namespace {

constexpr int kParallelMax = 64;
constexpr int kQueuedMax = 10'000;

constexpr char kFooter[] = R"(
distrun --daemon, or any distrun with DISTRUN_DAEMON=1, submits its run to the daemon and waits for its turn. Then it
prints and exits as without the daemon, in its directory, with its environment and umask. Resource limits, nice value
and control groups are the daemon's.

  distrund --parallel 2 &                     two runs at once, the others wait
  distrun --daemon plugin.so                  submit a run
  distrund --status                           list running and queued runs
  distrun ps; distrun cancel RUN              inspect runs; end a running or queued one
  systemctl --user enable --now distrund.socket   start the daemon on demand

A run ends when its client is interrupted or dies. SIGTERM or Ctrl-C ends the daemon with all its runs; their clients
exit with 130. If the daemon is killed, its runs also end and clean up, and a new daemon can start at once.

Exit codes: 0 ended on request, 2 usage, 3 cannot serve)";

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorKind::InvalidArgument, base::one_line(text, 400));
}

int number(const std::string& option, const std::string& text, int low, int high) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
    refuse(option + " " + text + ": expected a number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return value;
}

// On a terminal, where clients may print too, routine messages would disturb.
LogLevel log_level(const std::string& text) {
  if (text.empty()) return ::isatty(STDERR_FILENO) != 0 ? LogLevel::Warnings : LogLevel::All;
  if (text == "all") return LogLevel::All;
  if (text == "warnings") return LogLevel::Warnings;
  if (text != "off") refuse("--log " + text + ": expected all, warnings or off");
  return LogLevel::Off;
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  std::string socket;
  std::string parallel = "1";
  std::string queued = "100";
  std::string idle_exit;
  std::string log;
  bool status = false;
  bool version = false;
  CLI::App app("distrund queues the runs of several distruns, so that they do not compete for the machine.",
               "distrund");
  app.footer(kFooter);
  app.add_option("--socket", socket,
                 "Listen on this socket (default: $DISTRUN_DAEMON_SOCKET, else $XDG_RUNTIME_DIR/distrun/daemon.sock, "
                 "else /tmp/distrun-UID/daemon.sock)")
      ->type_name("PATH");
  app.add_option("--parallel", parallel, "Execute up to N runs at the same time (default 1)")->type_name("N");
  app.add_option("--queue", queued, "Queue up to N runs and refuse more (default 100)")->type_name("N");
  app.add_option("--idle-exit", idle_exit, "Exit after TIME without runs, such as 10m (default: never)")
      ->type_name("TIME");
  app.add_option(
         "--log", log,
         "Log all events of runs, only warnings, or nothing to standard error (default: all, on a terminal warnings)")
      ->type_name("all|warnings|off");
  app.add_flag("--status", status, "Print the state of the running daemon and exit");
  app.add_flag("--version", version, "Print the version");
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // CLI11 takes them from the back
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp& help) {
    app.exit(help);
    return options;
  } catch (const CLI::ParseError& error) {
    refuse(error.what());
  }
  if (version) {
    std::cout << "distrund " DISTRUN_VERSION "\n";
    return options;
  }
  options.command = status ? Command::Status : Command::Serve;
  options.socket = socket_path(socket);
  options.parallel = number("--parallel", parallel, 1, kParallelMax);
  options.queued = number("--queue", queued, 0, kQueuedMax);
  options.log = log_level(log);
  if (!idle_exit.empty()) options.idle_exit = base::parse_duration("--idle-exit", idle_exit);
  return options;
}

}  // namespace distrun::daemon
