#include "options.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include <distrun/base/error.hpp>
#include <distrun/base/rng.hpp>
#include <distrun/base/text.hpp>
#include <distrun/runner/filter.hpp>

#include "duration.hpp"
#include "parsing.hpp"

namespace distrun::cli {
namespace {

// What CLI11 fills; it becomes settings once it is checked.
struct Raw {
  std::vector<std::string> plugins;
  std::string world_size = "4";
  std::string backend = "shm";
  std::string agent = "pipe";
  std::string gpu_driver = "auto";
  std::string gpus = "0";
  std::string isolation = "process";
  std::vector<std::string> filters;
  std::string timeout;
  std::string timeout_override;
  std::string timeout_scale = "1";
  std::string stacks_after;
  std::string debug;
  std::string repeat = "1";
  std::string retries = "0";
  bool fail_fast = false;
  std::string seed;
  std::vector<std::string> env;
  std::string output;
  std::string json;
  std::string junit;
  std::string events;
  bool keep_work_dir = false;
  std::string leaks = "normal";
  bool skips_pass = false;
  std::string color = "auto";
  bool quiet = false;
  bool list_json = false;
  std::string report;
  std::string grace;
  std::string kill_after;
  std::string stdin_rank;
  std::string log_dir;
  bool no_prefix = false;
  bool tee = false;
  bool verbose = false;
};

std::vector<wire::KeyValue> environment_of(const std::vector<std::string>& texts) {
  std::vector<wire::KeyValue> variables;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) refuse("--env " + text + ": KEY=VALUE is wanted");
    variables.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return variables;
}

base::Nanoseconds default_timeout() {
  const char* text = std::getenv("DISTRIBUTED_TESTS_DEFAULT_TIMEOUT");
  return text == nullptr ? std::chrono::seconds(300) : parse_duration("DISTRIBUTED_TESTS_DEFAULT_TIMEOUT", text);
}

// What decides which tests there are; `run` and `list` share it.
void add_selection(CLI::App& app, Raw& raw) {
  app.add_option("plugins", raw.plugins, "Test plugins (shared objects made with distrun_add_plugin)")
      ->required()->type_name("PLUGIN.so");
  app.add_option("-w,--world-size", raw.world_size, "Ranks of a test that runs with any number (default 4)")
      ->type_name("N");
  app.add_option("-f,--filter", raw.filters,
                 "Run the tests that match: a glob over Suite.name/key=value, over Suite.name, or over the suite; "
                 "a leading - excludes, as in --filter=-Slow.*; may be given again")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  app.add_option("--backend", raw.backend,
                 "Process groups that tests get: shm, gloo, nccl, mpi or threads (default shm)")
      ->type_name("NAME");
  app.add_option("--agent", raw.agent, "RPC agent that tests get: pipe, faulty or inproc (default pipe)")
      ->type_name("NAME");
  app.add_option("--gpu-driver", raw.gpu_driver, "Devices behind cuda:i: auto, cuda, virtual or none (default auto)")
      ->type_name("NAME");
  app.add_option("--gpus", raw.gpus, "How many devices the virtual driver offers (default 0)")->type_name("N");
  app.add_option("--isolation", raw.isolation,
                 "process: ranks are forked for every attempt (default); exec: each is started anew; pool: one set of "
                 "ranks runs all tests of a suite; threads: the ranks are threads of one process")
      ->type_name("MODE");
  app.add_option("--timeout-scale", raw.timeout_scale, "Multiply every bound, for slow machines and sanitizers")
      ->type_name("FACTOR");
}

void add_execution(CLI::App& app, Raw& raw) {
  app.add_option("--timeout", raw.timeout,
                 "Bound of a test's body that names none itself: 500ms, 30s, 5m (default 300s)")->type_name("TIME");
  app.add_option("--timeout-override", raw.timeout_override, "The same, for every test")->type_name("TIME");
  app.add_option("--stacks-after", raw.stacks_after,
                 "Show what every rank does, with stacks, when a body has run for so long; it goes on")
      ->type_name("TIME");
  app.add_option("--debug", raw.debug,
                 "Start this rank under gdb; it waits before its body, and no bound runs out. Select one test "
                 "with --filter")
      ->type_name("RANK");
  app.add_option("--repeat", raw.repeat, "Run every test so often; each time must pass")->type_name("N");
  app.add_option("--retries", raw.retries, "Try a failed test again up to so often; a pass then makes it flaky")
      ->type_name("N");
  app.add_flag("--fail-fast", raw.fail_fast, "End the run after the first test that fails");
  app.add_option("--seed", raw.seed, "Seed of everything random in tests (default: a new one, printed)")
      ->type_name("N");
  app.add_option("--env", raw.env, "Set a variable in the ranks; may be given again")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--leaks", raw.leaks,
                 "What left-overs of a test do: normal and strict make it fail (strict counts descriptors and "
                 "threads too), off ends them silently")
      ->type_name("MODE");
  app.add_flag("--keep-work-dir", raw.keep_work_dir, "Leave the ranks' work directories for a look");
  app.add_flag("--skips-pass", raw.skips_pass, "Exit with 0 when every test was skipped");
}

void add_reports(CLI::App& app, Raw& raw) {
  app.add_option("-o,--output", raw.output, "Write summary.json, junit.xml and events.ndjson there")->type_name("DIR");
  app.add_option("--json", raw.json, "Write the summary (see: distrun show)")->type_name("FILE");
  app.add_option("--junit", raw.junit, "Write JUnit XML for CI")->type_name("FILE");
  app.add_option("--events", raw.events, "Write every event as a line of JSON while the run goes on")
      ->type_name("FILE");
  app.add_option("--color", raw.color, "auto (on a terminal, unless NO_COLOR is set), always or never")
      ->type_name("WHEN");
}

runner::Settings settings_of(const Raw& raw) {
  runner::Settings settings;
  settings.plugins = raw.plugins;
  settings.world_size = number("--world-size", raw.world_size, 1, wire::kWorldSizeMax);
  settings.backend = one_of("--backend", raw.backend, {"shm", "gloo", "nccl", "mpi", "threads"});
  settings.agent = one_of("--agent", raw.agent, {"pipe", "faulty", "inproc"});
  settings.gpu_driver = one_of("--gpu-driver", raw.gpu_driver, {"auto", "cuda", "virtual", "none"});
  const int gpus = number("--gpus", raw.gpus, 0, 64);
  settings.gpus = settings.gpu_driver == "virtual" ? gpus : 0;
  settings.isolation = one_of("--isolation", raw.isolation, {"process", "exec", "pool", "threads"});
  settings.filters = raw.filters;
  runner::Filter{raw.filters};  // refuses now what it would refuse later
  settings.timeout_scale = number("--timeout-scale", raw.timeout_scale, 0.001, 1000.0);
  return settings;
}

void add_execution_settings(const Raw& raw, runner::Settings& settings) {
  settings.timeout = raw.timeout.empty() ? default_timeout() : parse_duration("--timeout", raw.timeout);
  if (!raw.timeout_override.empty()) {
    settings.timeout_override = parse_duration("--timeout-override", raw.timeout_override);
  }
  if (!raw.stacks_after.empty()) settings.stacks_after = parse_duration("--stacks-after", raw.stacks_after);
  if (!raw.debug.empty()) settings.debug_rank = number("--debug", raw.debug, 0, wire::kWorldSizeMax - 1);
  settings.repeat = number("--repeat", raw.repeat, 1, 1'000'000);
  settings.retries = number("--retries", raw.retries, 0, 1000);
  if (settings.debug_rank >= 0 && (settings.repeat > 1 || settings.retries > 0)) {
    refuse("--debug: a test is debugged once; leave --repeat and --retries out");
  }
  settings.fail_fast = raw.fail_fast;
  settings.seed = raw.seed.empty() ? base::random_seed() >> 32  // short enough to type
                                   : number<std::uint64_t>("--seed", raw.seed, 0, UINT64_MAX);
  settings.env = environment_of(raw.env);
  one_of("--leaks", raw.leaks, {"normal", "strict", "off"});
  settings.leaks_strict = raw.leaks == "strict";
  settings.leaks_off = raw.leaks == "off";
  settings.skips_pass = raw.skips_pass;
  settings.keep_work_dir = raw.keep_work_dir;
}

ReportPaths report_paths_of(const Raw& raw) {
  ReportPaths paths{raw.json, raw.junit, raw.events};
  if (raw.output.empty()) return paths;
  const auto otherwise = [&](std::string& path, const char* name) {
    if (path.empty()) path = raw.output + "/" + name;
  };
  std::error_code error;
  std::filesystem::create_directories(raw.output, error);
  if (error) refuse("--output " + raw.output + ": cannot make the directory: " + error.message());
  otherwise(paths.summary, "summary.json");
  otherwise(paths.junit, "junit.xml");
  otherwise(paths.events, "events.ndjson");
  return paths;
}

constexpr char kRunExamples[] = R"(
Commands:
  distrun [run] PLUGIN.so...     run the plugins' tests (this page)
  distrun exec -- PROGRAM ...    run any program as ranks
  distrun list PLUGIN.so...      name their tests, and why some would be skipped
  distrun show SUMMARY.json      print an earlier run again
  distrun ps                     what the ranks of running distruns do, a line each
  distrun stacks [RUN] [RANK]    what they wait for, and their stacks; --pid for any processes
  distrun attach RUN RANK        gdb on a live rank

Examples:
  distrun plugin.so                              every test, with 4 ranks
  distrun -w 2 --filter 'Ring.*' plugin.so       one suite, with 2 ranks
  distrun --filter=-Slow.* plugin.so             all but one suite
  distrun --repeat 100 --fail-fast plugin.so     until something fails
  distrun --timeout 30s --output reports plugin.so

While it runs: s or Ctrl-\ shows what every rank does, with stacks; Ctrl-Z stops ranks and clocks.

Exit codes: 0 all passed, 1 some test failed, 2 usage, 3 distrun or the machine failed,
            4 nothing ran, 130 interrupted)";

CommandLine parse_run(const std::vector<std::string>& arguments) {
  Raw raw;
  CLI::App app("distrun runs tests that need several ranks, and when ranks hang it says why.", "distrun");
  app.footer(kRunExamples);
  add_selection(app, raw);
  add_execution(app, raw);
  add_reports(app, raw);
  app.add_flag("-q,--quiet", raw.quiet, "Print failures and totals only");
  CommandLine line;
  if (!parse(app, arguments)) return line;
  line.kind = CommandKind::Run;
  line.run.settings = settings_of(raw);
  add_execution_settings(raw, line.run.settings);
  line.run.color = color_of(raw.color);
  line.run.quiet = raw.quiet;
  line.run.reports = report_paths_of(raw);
  return line;
}

constexpr char kExecExamples[] = R"(
Each of N processes runs the program with RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK, MASTER_ADDR and
MASTER_PORT in its environment. When one fails, the others get their grace and are ended.

Examples:
  distrun exec -w 4 -- ./train --steps 100
  distrun exec -w 2 --timeout 10m --stacks-after 1m -- python3 train.py
  distrun exec -w 8 --per-rank-log logs --output reports -- ./solver

While it runs: s or Ctrl-\ shows what every rank does, with stacks; distrun ps, stacks and attach work on it.

Exit codes: 0 every rank exited with 0 and nothing was left behind, 1 some rank did not or something was, 2 usage,
            3 distrun or the machine failed, or the program cannot be run, 130 interrupted)";

void add_exec(CLI::App& app, Raw& raw) {
  app.add_option("-w,--world-size", raw.world_size, "How many ranks (default 4)")->type_name("N");
  app.add_option("--timeout", raw.timeout, "Show the stacks of all ranks and end them when they have run for so long: "
                                           "30s, 5m (default 0: never)")->type_name("TIME");
  app.add_option("--timeout-scale", raw.timeout_scale, "Multiply every bound")->type_name("FACTOR");
  app.add_option("--stacks-after", raw.stacks_after,
                 "Show what every rank does, with stacks, when they have run for so long; they go on")
      ->type_name("TIME");
  app.add_option("--grace", raw.grace,
                 "What the others get to end by themselves when a rank has failed (default 500ms)")
      ->type_name("TIME");
  app.add_option("--kill-after", raw.kill_after, "From SIGTERM to SIGKILL, for ranks that are ended (default 500ms)")
      ->type_name("TIME");
  app.add_option("--env", raw.env, "Set a variable in the ranks; may be given again")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--stdin", raw.stdin_rank, "The rank that gets standard input (default: none, it is /dev/null)")
      ->type_name("RANK");
  app.add_option("--leaks", raw.leaks, "normal: processes, shared memory and sockets that are left behind are a "
                                       "failure; off: they are ended silently")->type_name("MODE");
  app.add_flag("--no-prefix", raw.no_prefix, "Show lines as they are, without [rank N]");
  app.add_option("--per-rank-log", raw.log_dir, "Write all output of each rank to DIR/rankN.out and DIR/rankN.err too")
      ->type_name("DIR");
  app.add_flag("--tee", raw.tee, "Keep output in the reports too: 1 MiB of each stream of each rank");
  app.add_flag("-v,--verbose", raw.verbose, "Tell the run's id at the beginning, and its end if it is good");
}

runner::Settings exec_settings(const Raw& raw) {
  runner::Settings settings = settings_of(raw);
  const bool endless = raw.timeout.empty() || raw.timeout == "0";
  settings.timeout = endless ? base::Nanoseconds{} : parse_duration("--timeout", raw.timeout);
  if (!raw.stacks_after.empty()) settings.stacks_after = parse_duration("--stacks-after", raw.stacks_after);
  if (!raw.grace.empty()) settings.peer_grace = parse_duration("--grace", raw.grace);
  if (!raw.kill_after.empty()) settings.terminate_grace = parse_duration("--kill-after", raw.kill_after);
  settings.env = environment_of(raw.env);
  if (!raw.stdin_rank.empty()) settings.stdin_rank = number("--stdin", raw.stdin_rank, 0, settings.world_size - 1);
  settings.leaks_off = one_of("--leaks", raw.leaks, {"normal", "off"}) == "off";
  settings.isolation = "program";
  settings.keep_output = raw.tee;
  return settings;
}

// What follows the options, behind `--` or without it.
std::vector<std::string> program_of(CLI::App& app) {
  std::vector<std::string> words = app.remaining();
  if (!words.empty() && words.front() == "--") {
    words.erase(words.begin());
  } else if (!words.empty() && words.front().starts_with("-")) {
    refuse(words.front() + ": unknown option; the program stands behind --");
  }
  if (words.empty()) refuse("exec: a program is wanted: distrun exec [OPTIONS] -- PROGRAM [ARGUMENT...]");
  return words;
}

CommandLine parse_exec(const std::vector<std::string>& arguments) {
  Raw raw;
  CLI::App app("Runs any program as ranks, and watches them as tests are watched:\n"
               "distrun exec [OPTIONS] -- PROGRAM [ARGUMENT...]", "distrun exec");
  app.footer(kExecExamples);
  app.prefix_command();
  add_exec(app, raw);
  add_reports(app, raw);
  CommandLine line;
  if (!parse(app, arguments)) return line;
  line.kind = CommandKind::Exec;
  line.run.settings = exec_settings(raw);
  line.run.settings.program = program_of(app);
  line.run.color = color_of(raw.color);
  line.run.reports = report_paths_of(raw);
  line.run.program = {!raw.no_prefix, raw.verbose, raw.log_dir};
  return line;
}

CommandLine parse_list(const std::vector<std::string>& arguments) {
  Raw raw;
  CLI::App app("Names the tests of plugins: id, ranks, and the reason of those that would be skipped.", "distrun list");
  add_selection(app, raw);
  app.add_flag("--json", raw.list_json, "As JSON, with everything that is known of each test");
  CommandLine line;
  if (!parse(app, arguments)) return line;
  line.kind = CommandKind::List;
  line.list.settings = settings_of(raw);
  line.list.json = raw.list_json;
  return line;
}

CommandLine parse_show(const std::vector<std::string>& arguments) {
  Raw raw;
  CLI::App app("Prints a run again from its summary: what ran, and what went wrong and why.", "distrun show");
  app.add_option("report", raw.report, "A summary that --json or --output wrote")
      ->required()
      ->type_name("SUMMARY.json");
  app.add_option("--color", raw.color, "auto, always or never")->type_name("WHEN");
  CommandLine line;
  if (!parse(app, arguments)) return line;
  line.kind = CommandKind::Show;
  line.show = {raw.report, color_of(raw.color)};
  return line;
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  const std::string first = arguments.empty() ? "" : arguments.front();
  const std::vector<std::string> rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (first == "--version" || first == "version") {
    std::cout << "distrun " DISTRUN_VERSION "\n";
    return {};
  }
  if (first == "help") return parse_run({"--help"});
  if (first == "run") return parse_run(rest);
  if (first == "exec") return parse_exec(rest);
  if (first == "list") return parse_list(rest);
  if (first == "show") return parse_show(rest);
  if (first == "ps") return parse_ps(rest);
  if (first == "stacks") return parse_stacks(rest);
  if (first == "attach") return parse_attach(rest);
  return parse_run(arguments);
}

}  // namespace distrun::cli
