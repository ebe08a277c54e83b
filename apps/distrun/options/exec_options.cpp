// The arguments of `distrun exec`.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>

#include <distrun/common/base/duration.hpp>
#include <distrun/common/base/text.hpp>

#include "bind_option.hpp"
#include "host_options.hpp"
#include "parsing.hpp"
#include "raw_options.hpp"
#include "report_options.hpp"
#include "watch_options.hpp"
#include "wrap_options.hpp"

namespace distrun::cli {
namespace {

constexpr char kLeaks[] = "normal|off";
constexpr char kMpi[] = "auto|on|off";
// Signals that programs commonly treat as a request to end.
constexpr char kStopSignals[] = "SIGTERM|SIGINT|SIGHUP|SIGQUIT|SIGUSR1|SIGUSR2";

constexpr char kExecNotes[] = R"(
Examples:
  distrun exec -w 4 -- ./train --steps 100
  distrun exec -w 2 --timeout 10m --stacks-after 1m -- python3 train.py
  distrun exec -w 8 --per-rank-log logs --output reports -- ./solver
  distrun exec -w 4 -- ./mpi_program
  distrun exec -w 4 --mpi on -- python3 mpi4py_program.py
  distrun exec --hosts node01,node02 -w 16 -- python3 train.py

Notes:
  Each of N processes runs the program with RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE,
  GROUP_RANK, MASTER_ADDR and MASTER_PORT in its environment. When one fails, the others are
  ended after --grace. On other hosts they get the environment and the directory of this command.

During the run:
  s or Ctrl-\ shows what every rank does, with stacks; distrun ps, stacks and attach also work.

Exit codes:
  0    every rank exited with 0 and nothing was left behind
  1    a rank failed, or something was left behind
  2    the command line is invalid; nothing was started
  3    distrun or the machine failed, the program cannot be run, or output could not be written
  130  interrupted)";

// Options only for programs; the others are shared with `run`.
struct RawProgram {
  std::string grace = "500ms";
  std::string kill_after = "500ms";
  std::string stop_signal = "SIGTERM";
  std::string name;
  std::string stdin_rank;
  std::string mpi = "auto";
  std::string log_dir;
  bool no_prefix = false;
  bool tee = false;
  bool verbose = false;
};

void add_ranks(CLI::App& app, Raw& raw, RawProgram& program) {
  begin_group(app, "Ranks");
  app.add_option("-w,--world-size", raw.world_size, "Number of ranks")->type_name("N");
  app.add_option("--env", raw.env, "Set an environment variable of the ranks; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--stdin", program.stdin_rank,
                 "Give standard input to this rank; the others, and by default all ranks, read from /dev/null")
      ->type_name("RANK");
  app.add_option(
         "--mpi", program.mpi,
         "Give the ranks one MPI_COMM_WORLD, by PMIx: auto: if the program is linked with an MPI that can join; "
         "on: always, as for Python with mpi4py; off: each rank is a world of one")
      ->type_name(kMpi);
  add_bind_option(app, raw);
  add_wrap_options(app, raw);
  app.add_option("--leaks", raw.leaks,
                 "Treatment of processes, shared memory and sockets that are left behind: normal: the run fails; off: "
                 "they are ended silently")
      ->type_name(kLeaks);
  app.add_flag("--private-tmp", raw.private_tmp, "Give the ranks a private /tmp and /dev/shm");
}

void add_time(CLI::App& app, Raw& raw, RawProgram& program) {
  begin_group(app, "Time");
  app.add_option("--timeout", raw.timeout, "After TIME, show the stacks of all ranks and end them: 30s, 5m; 0: never")
      ->type_name("TIME");
  app.add_option("--timeout-scale", raw.timeout_scale, "Multiply every timeout by FACTOR")->type_name("FACTOR");
  app.add_option("--stacks-after", raw.stacks_after,
                 "Show the activity and stacks of every rank after TIME; the ranks continue")
      ->type_name("TIME");
  add_watch_options(app, raw);
  app.add_option("--grace", program.grace,
                 "When a rank has failed, wait TIME for the others to exit before ending them")
      ->type_name("TIME");
  app.add_option("--kill-after", program.kill_after, "When ranks are ended, wait TIME between SIGTERM and SIGKILL")
      ->type_name("TIME");
  app.add_option("--stop-signal", program.stop_signal,
                 "First signal to ranks that are to end; if it is not SIGTERM, SIGTERM follows after --kill-after, and "
                 "SIGKILL after the same time again")
      ->type_name(kStopSignals);
}

void add_output(CLI::App& app, RawProgram& program) {
  begin_group(app, "Output");
  app.add_option("--name", program.name,
                 "Name the test exec.NAME in reports: letters, digits, _, - and . (default: name of the program, or of "
                 "its script if it is an interpreter)")
      ->type_name("NAME");
  app.add_flag("--no-prefix", program.no_prefix, "Print lines without the prefix [rank N]");
  app.add_option("--per-rank-log", program.log_dir,
                 "Also write all output of each rank to DIR/rankN.out and DIR/rankN.err")
      ->type_name("DIR");
  app.add_flag("--tee", program.tee,
               "Also keep output in reports: 1 MiB per stream and rank (default: the last 50 lines of standard error "
               "of a program that fails)");
  app.add_flag("-v,--verbose", program.verbose, "Print the run's id at the start, and its result even if it succeeds");
}

constexpr std::size_t kNameMax = 100;

std::string checked_name(const std::string& name) {
  const auto may_stand = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
  };
  if (name.size() > kNameMax || !std::all_of(name.begin(), name.end(), may_stand)) {
    refuse("--name " + name + ": expected at most " + std::to_string(kNameMax) + " letters, digits, _, - and .");
  }
  return name;
}

int stop_signal_of(const std::string& text) {
  const std::optional<int> signal = base::try_find_signal(text);
  one_of("--stop-signal", signal ? base::signal_name(*signal) : text, kStopSignals);
  return *signal;
}

runner::MpiUse mpi_of(const RawProgram& program) {
  const std::string use = one_of("--mpi", program.mpi, kMpi);
  return use == "on" ? runner::MpiUse::On : use == "off" ? runner::MpiUse::Off : runner::MpiUse::Auto;
}

runner::Settings settings_of(const Raw& raw, const RawProgram& program) {
  runner::Settings settings;
  settings.world_size = number("--world-size", raw.world_size, 1, wire::kWorldSizeMax);
  settings.timeout = raw.timeout == "0" ? base::Nanoseconds{} : base::parse_duration("--timeout", raw.timeout);
  settings.timeout_scale = number("--timeout-scale", raw.timeout_scale, 0.001, 1000.0);
  if (!raw.stacks_after.empty()) settings.stacks_after = base::parse_duration("--stacks-after", raw.stacks_after);
  add_watch_settings(raw, settings);
  settings.peer_grace = base::parse_duration("--grace", program.grace);
  settings.terminate_grace = base::parse_duration("--kill-after", program.kill_after);
  settings.stop_signal = stop_signal_of(program.stop_signal);
  settings.env = environment_of(raw.env);
  settings.env_values = raw.env_values;
  if (!program.stdin_rank.empty()) {
    settings.stdin_rank = number("--stdin", program.stdin_rank, 0, settings.world_size - 1);
  }
  settings.mpi = mpi_of(program);
  settings.leaks_off = one_of("--leaks", raw.leaks, kLeaks) == "off";
  settings.private_tmp = raw.private_tmp;
  settings.bind = bind_of(raw);
  settings.isolation = Isolation::Program;
  settings.keep_output = program.tee;
  settings.program_name = checked_name(program.name);
  return settings;
}

// Returns the words after the options, with or without `--`.
std::vector<std::string> program_of(const CLI::App& app) {
  std::vector<std::string> words = app.remaining();
  if (!words.empty() && words.front() == "--") {
    words.erase(words.begin());
  } else if (!words.empty() && words.front().starts_with("--trace")) {
    refuse(
        "exec: --trace works only with plugins, since programs record no actions; use --stacks-after for a snapshot");
  } else if (!words.empty() && words.front().starts_with("-")) {
    refuse(words.front() + ": unknown option; write the program after --");
  }
  if (words.empty()) refuse("exec: the program is missing; usage: distrun exec [OPTIONS] -- PROGRAM [ARGUMENT...]");
  return words;
}

}  // namespace

CommandLine parse_exec(const Arguments& arguments) {
  Raw raw;
  raw.timeout = "0";
  RawProgram program;
  CLI::App app("Runs any program as ranks, and supervises them like the ranks of a test.", "distrun exec");
  app.footer(kExecNotes);
  app.prefix_command();
  add_ranks(app, raw, program);
  add_host_options(app, raw);
  add_time(app, raw, program);
  add_output(app, program);
  add_program_reports(app, raw);
  CommandLine line;
  if (!parse(app, arguments)) return line;
  line.kind = CommandKind::Exec;
  line.run.settings = settings_of(raw, program);
  line.run.settings.program = program_of(app);
  line.run.hosts = hosts_of(raw, !raw.hosts.empty());
  adapt_to_hosts(raw, line.run, true);
  add_wrap_settings(raw, line.run);
  if (line.run.settings.mpi == runner::MpiUse::On && !line.run.hosts.hosts.empty()) {
    refuse("--mpi on: distrun has no world of MPI on several hosts; leave out --mpi on, or run on one host");
  }
  line.run.history = "off";
  line.run.color = color_of(raw.color);
  line.run.reports = report_paths_of(raw);
  line.run.program = {!program.no_prefix, program.verbose, program.log_dir};
  return line;
}

}  // namespace distrun::cli
