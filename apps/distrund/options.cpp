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
distrun --daemon, or any distrun with DISTRUN_DAEMON=1, hands its run over: it waits for its turn, then prints
and exits as if it had run by itself, in its own directory, environment and umask. What ulimit, nice and control
groups say is the daemon's.

  distrund --parallel 2 &                     two runs at once, the others wait
  distrun --daemon plugin.so                  the next one
  distrund --status                           what runs and what waits
  distrun ps; distrun cancel RUN              look at a run; end it, waiting or not
  systemctl --user enable --now distrund.socket   start it when it is needed

A run ends when its client is interrupted or dies. SIGTERM or Ctrl-C end the daemon with all its runs; whose
client gets exit code 130. If it is killed its runs end too and clean up, and a new one can start at once.

Exit codes: 0 ended as told, 2 usage, 3 it cannot serve)";

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorKind::InvalidArgument, base::one_line(text, 400));
}

int number(const std::string& option, const std::string& text, int low, int high) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
    refuse(option + " " + text + ": a number from " + std::to_string(low) + " to " + std::to_string(high) +
           " is wanted");
  }
  return value;
}

// On a terminal, where clients may print too, routine messages would disturb.
LogLevel log_level(const std::string& text) {
  if (text.empty()) return ::isatty(STDERR_FILENO) != 0 ? LogLevel::Warnings : LogLevel::All;
  if (text == "all") return LogLevel::All;
  if (text == "warnings") return LogLevel::Warnings;
  if (text != "off") refuse("--log " + text + ": all, warnings or off is wanted");
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
  CLI::App app("distrund runs the runs of many distruns in turn, so that they do not take the machine from each other.",
               "distrund");
  app.footer(kFooter);
  app.add_option("--socket", socket,
                 "Where it listens (default: $DISTRUN_DAEMON_SOCKET, else $XDG_RUNTIME_DIR/distrun/daemon.sock, else "
                 "/tmp/distrun-UID/daemon.sock)")
      ->type_name("PATH");
  app.add_option("--parallel", parallel, "Runs at once (default 1)")->type_name("N");
  app.add_option("--queue", queued, "Runs that may wait; more are refused (default 100)")->type_name("N");
  app.add_option("--idle-exit", idle_exit, "End when there was nothing to do for so long: 10m")->type_name("TIME");
  app.add_option("--log", log,
                 "What it tells on standard error: all that happens to runs, warnings alone, or nothing (default: all, "
                 "on a terminal warnings)")
      ->type_name("all|warnings|off");
  app.add_flag("--status", status, "Ask the daemon that runs what it does, and end");
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
