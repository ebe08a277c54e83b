// The options of `distrun run`, and of list and show, which share some of them.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/base/duration.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/backend_names.hpp>
#include <distrun/common/wire/fault_plan.hpp>
#include <distrun/runner/plan/filter.hpp>
#include <distrun/runner/record/machine.hpp>

#include "bind_option.hpp"
#include "config_file.hpp"
#include "config_schema.hpp"
#include "config_text.hpp"
#include "gpu_options.hpp"
#include "help/help_notes.hpp"
#include "host_options.hpp"
#include "option_layers.hpp"
#include "overrides.hpp"
#include "parsing.hpp"
#include "raw_options.hpp"
#include "repetition_options.hpp"
#include "report_file.hpp"
#include "report_options.hpp"
#include "shard.hpp"
#include "watch_options.hpp"
#include "wrap_options.hpp"

namespace distrun::cli {
namespace {

constexpr std::size_t kWorldSizesMax = 64;  // of one run
constexpr char kAgents[] = "pipe|faulty|inproc";
constexpr char kRpcTransports[] = "best|shm|uds|tcp";
constexpr char kLeaks[] = "normal|strict|off";
constexpr char kExits[] = "handlers|quick";

void require_plugins(const std::vector<std::string>& plugins) {
  if (plugins.empty()) refuse("no plugin is given; name the test plugins (.so files) to run");
}

std::string_view name_of(std::string_view backend) { return backend; }

// Returns "shm|gloo|...", like the other choices.
template <class Names>
std::string choices_of(const Names& names) {
  std::string choices;
  for (const auto& each : names) choices += (choices.empty() ? "" : "|") + std::string(name_of(each));
  return choices;
}

// Returns the backends that distrun itself has.
std::string backends_here() {
  std::vector<std::string_view> here;
  for (const std::string_view name : wire::kBackendNames) {
    if (!wire::is_only_of_plugins(name)) here.push_back(name);
  }
  return choices_of(here);
}

// Options that select tests; shared by `run` and `list`.
void add_selection(CLI::App& app, Raw& raw) {
  begin_group(app, "Which tests");
  app.add_option("plugins", raw.plugins, "Test plugins: shared objects built with distrun_add_plugin")
      ->type_name("PLUGIN.so");
  app.add_option(
         "-f,--filter", raw.filters,
         "Select the tests that match: a part of Suite.name/key=value; a glob or a whole name, if there is a *, ? "
         "or dot; test:, suite:, tag:, plugin:NAME; np:4 or np:2-8; combined by & | ! ( ); a leading - excludes, "
         "as in --filter=-Slow.*; repeatable")
      ->type_name("EXPRESSION")
      ->allow_extra_args(false);
  app.add_option(
         "--overrides", raw.overrides,
         "Settings of the tests that a filter selects, as in {filter = 'tag:slow', timeout = '5m', retries = 2}; "
         "also tags, locks and world-size; repeatable; in a settings file: [[overrides]]")
      ->type_name("TABLE")
      ->allow_extra_args(false);
  app.add_option("--shard", raw.shard,
                 "Run part I of N of the selected tests; each selected test is in exactly one part")
      ->type_name("I/N");
  begin_group(app, "Ranks");
  app.add_option("-w,--world-size", raw.world_size,
                 "World size of tests that do not fix one; 1,2,4 or 1-4: run each test with each of these")
      ->type_name("N");
  app.add_option("--backend", raw.backend,
                 "Backend of the tests' process groups; mpi and ucc are accepted for plugins that bring them")
      ->type_name(backends_here());
  app.add_option("--agent", raw.agent, "RPC agent, which moves RPC messages between ranks")->type_name(kAgents);
  add_gpus(app, raw);
  app.add_option("--isolation", raw.isolation,
                 "What ranks are: process: forked for every attempt; exec: started as new programs; pool: one set of "
                 "ranks runs all tests of a suite; threads: threads of one process")
      ->type_name(choices_of(base::kIsolations));
  app.add_option("--timeout-scale", raw.timeout_scale,
                 "Multiply every timeout by FACTOR, for slow machines and sanitizers")
      ->type_name("FACTOR");
}

void add_execution(CLI::App& app, Raw& raw) {
  begin_group(app, "Ranks");
  app.add_option("--env", raw.env, "Set an environment variable of the ranks; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--leaks", raw.leaks,
                 "Treatment of a test's left-overs: normal and strict fail the test (strict also counts descriptors "
                 "and threads); off ends them silently")
      ->type_name(kLeaks);
  app.add_option("--exit", raw.exit,
                 "How ranks exit: handlers: like programs, with exit handlers and static destructors, whose failures "
                 "count; quick: without them")
      ->type_name(kExits);
  add_bind_option(app, raw);
  add_wrap_options(app, raw);
  app.add_option("--rpc-transport", raw.rpc_transport,
                 "Transport of the RPC agent pipe: shared memory, a Unix socket or TCP; best: the first of these that "
                 "both ranks have")
      ->type_name(kRpcTransports);
  app.add_option(
         "--faults", raw.faults,
         "Use the RPC agent faulty, which drops, delays, duplicates or changes messages as PLAN says; for example "
         "7:drop:retriable:0.1,delay:call:1.5; share/doc/distrun/agents/README.md describes plans")
      ->type_name("SEED:PLAN");
  app.add_flag("--keep-work-dir", raw.keep_work_dir, "Keep the ranks' work directories");
  app.add_flag("--private-tmp", raw.private_tmp,
               "Give each test a private /tmp and /dev/shm; files left there are leaks");
  begin_group(app, "Time");
  app.add_option("--timeout", raw.timeout, "Timeout of a test body that sets none: 500ms, 30s, 5m")->type_name("TIME");
  app.add_option("--timeout-override", raw.timeout_override, "Timeout of every test body, even if it sets one")
      ->type_name("TIME");
  app.add_option("--run-timeout", raw.run_timeout,
                 "End the run after TIME: show what its tests wait for, write the reports, exit with 3 (default: none)")
      ->type_name("TIME");
  app.add_option("--stacks-after", raw.stacks_after,
                 "Show the activity and stacks of every rank when a body has run for TIME; the test continues")
      ->type_name("TIME");
  add_watch_options(app, raw);
  app.add_option(
         "--debug", raw.debug,
         "Start this rank under gdb and stop it before its body, without timeouts; select one test with --filter")
      ->type_name("RANK");
}

// Options for the number of concurrent tests and runs.
void add_concurrency(CLI::App& app, Raw& raw) {
  begin_group(app, "Concurrency");
  app.add_option(
         "-j,--jobs", raw.jobs,
         "Run up to N tests in parallel, limited by cores, memory and devices; auto: one per core (of all hosts)")
      ->type_name("N");
  app.add_option("--lock-limit", raw.lock_limits,
                 "Let up to N tests with this lock run at the same time, counting those of your other runs (default: "
                 "one); repeatable")
      ->type_name("LOCK=N")
      ->allow_extra_args(false);
  app.add_flag("--daemon", raw.daemon, "Queue the run in the daemon behind other runs (see: distrund --help)");
}

void add_config(CLI::App& app, Raw& raw) {
  begin_group(app, "Settings");
  app.add_option("--config", raw.config,
                 "Read settings from this file; none: read no file (default: " + std::string(kConfigName) +
                     " in this directory or the nearest one above)")
      ->type_name("FILE");
  app.get_help_ptr()->group("Settings");
}

void add_run(CLI::App& app, Raw& raw) {
  app.footer(kRunNotes);
  add_selection(app, raw);
  add_execution(app, raw);
  add_host_options(app, raw);
  add_concurrency(app, raw);
  add_repetition_options(app, raw);
  add_reports(app, raw);
  add_config(app, raw);
  app.add_flag("--print-config", raw.print_config, "Print every setting and its source as a file of settings");
  app.add_flag("--print-config-schema", raw.print_config_schema,
               "Print a JSON schema of such files, for editors that complete and check them");
  app.set_version_flag("--version", "distrun " DISTRUN_VERSION, "Print distrun's version");
}

// Reads "4", "1,2,4" or "1-4,8".
void set_world_sizes(const std::string& text, runner::Settings& settings) {
  std::vector<int> sizes;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    const std::size_t dash = part.find('-', 1);
    const int least = number("--world-size", part.substr(0, dash), 1, wire::kWorldSizeMax);
    const int most =
        dash == part.npos ? least : number("--world-size", part.substr(dash + 1), least, wire::kWorldSizeMax);
    for (int size = least; size <= most; ++size) {
      if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) sizes.push_back(size);
    }
    at = end + 1;
  }
  if (sizes.size() > kWorldSizesMax) {
    refuse("--world-size " + text + " has " + std::to_string(sizes.size()) + " sizes, the limit is " +
           std::to_string(kWorldSizesMax));
  }
  settings.world_size = sizes.front();
  if (sizes.size() > 1) settings.world_sizes = std::move(sizes);
}

runner::Settings settings_of(const Raw& raw) {
  runner::Settings settings;
  settings.plugins = raw.plugins;
  set_world_sizes(raw.world_size, settings);
  settings.backend = one_of("--backend", raw.backend, choices_of(wire::kBackendNames).c_str());
  settings.agent = one_of("--agent", raw.agent, kAgents);
  add_gpu_settings(raw, settings);
  settings.isolation =
      base::parse_isolation(one_of("--isolation", raw.isolation, choices_of(base::kIsolations).c_str()));
  settings.filters = raw.filters;
  [[maybe_unused]] const runner::Filter refuses_now(raw.filters);  // refuses now instead of later
  for (const std::string& text : raw.overrides) settings.overrides.push_back(parse_override(text));
  settings.shard = parse_shard("--shard", raw.shard);
  settings.timeout_scale = number("--timeout-scale", raw.timeout_scale, 0.001, 1000.0);
  return settings;
}

void add_execution_settings(const Raw& raw, runner::Settings& settings) {
  settings.timeout = base::parse_duration("--timeout", raw.timeout);
  if (!raw.timeout_override.empty()) {
    settings.timeout_override = base::parse_duration("--timeout-override", raw.timeout_override);
  }
  if (!raw.run_timeout.empty()) settings.run_timeout = base::parse_duration("--run-timeout", raw.run_timeout);
  if (!raw.stacks_after.empty()) settings.stacks_after = base::parse_duration("--stacks-after", raw.stacks_after);
  add_watch_settings(raw, settings);
  if (!raw.debug.empty()) settings.debug_rank = number("--debug", raw.debug, 0, wire::kWorldSizeMax - 1);
  settings.jobs =
      raw.jobs == "auto" ? std::max(runner::this_machine().cpus, 1) : number("--jobs", raw.jobs, 1, 256, " or auto");
  settings.bind = bind_of(raw);
  settings.lock_limits = lock_limits_of(raw.lock_limits);
  settings.env = environment_of(raw.env);
  settings.env_values = raw.env_values;
  one_of("--leaks", raw.leaks, kLeaks);
  settings.leaks_strict = raw.leaks == "strict";
  settings.leaks_off = raw.leaks == "off";
  settings.rpc_transport = one_of("--rpc-transport", raw.rpc_transport, kRpcTransports);
  settings.faults = raw.faults;
  if (!raw.faults.empty()) {
    [[maybe_unused]] const wire::FaultPlan makes_sense = wire::parse_fault_plan("--faults", raw.faults);
    settings.agent = "faulty";
  }
  settings.quick_exit = one_of("--exit", raw.exit, kExits) == "quick";
  settings.skips_pass = raw.skips_pass;
  settings.keep_work_dir = raw.keep_work_dir;
  settings.private_tmp = raw.private_tmp;
  add_trace_settings(raw, settings);
}

// The sources that completed a parsed command line.
struct Sources {
  Origins origins;
  std::string config;        // the settings file that was read, or empty
  runner::RunRecord report;  // of --rerun-failed, if given
};

// Sets the options that the command line omits.
Sources fill_in(CLI::App& app, const Raw& raw) {
  Sources sources{command_line_origins(app), "", {}};
  if (!raw.rerun_failed.empty()) {
    sources.report = read_report(raw.rerun_failed);
    fill_in(app, report_layer(sources.report, raw.rerun_failed), sources.origins);
  }
  Raw unused;
  CLI::App run("", "distrun");
  add_run(run, unused);
  const CommandInfo info = info_of(run);
  fill_in(app, environment_layer(run), sources.origins);
  fill_in(app, wanted_config(raw.config, info, sources.config), sources.origins);
  return sources;
}

void set_rerun(const Raw& raw, const runner::RunRecord& report, RunOptions& run) {
  if (raw.rerun_failed.empty()) return;
  run.settings.rerun_failed = raw.rerun_failed;
  run.settings.rerun = failed_tests(report);
  if (run.settings.plugins.empty()) run.settings.plugins = plugins_of(run.settings.rerun);
  if (run.settings.rerun.empty()) run.nothing_to_run = why_nothing_reruns(report, raw.rerun_failed);
}

RunOptions run_options_of(const Raw& raw, const runner::RunRecord& report, const Origins& origins) {
  RunOptions run;
  run.settings = settings_of(raw);
  add_execution_settings(raw, run.settings);
  add_repetition_settings(raw, run.settings);
  set_rerun(raw, report, run);
  run.settings.in_job = nodes::is_in_job();
  run.hosts = hosts_of(raw, is_typed(origins, "hosts"));
  adapt_to_hosts(raw, run, origins.contains("backend"));
  add_wrap_settings(raw, run);
  run.order = order_of(raw);
  run.history = raw.history;
  run.project = raw.project;
  run.through_daemon = raw.daemon;
  if (run.through_daemon && run.settings.debug_rank >= 0) {
    refuse("--debug: gdb needs this terminal; leave --daemon and DISTRUN_DAEMON out, or add --daemon=false");
  }
  run.color = color_of(raw.color);
  set_console(raw, run);
  return run;
}

}  // namespace

void begin_group(CLI::App& app, const char* heading) {
  app.option_defaults()->group(heading)->always_capture_default();
}

CommandLine parse_run(const Arguments& arguments) {
  Raw raw;
  CLI::App app("distrun runs tests that need several ranks, and explains why they hang.", "distrun");
  add_run(app, raw);
  CommandLine line;
  if (!parse(app, arguments)) return line;
  if (raw.print_config_schema) {  // also beside a file that has mistakes
    std::cout << config_schema(info_of(app));
    return line;
  }
  const Sources sources = fill_in(app, raw);
  try {
    line.run = run_options_of(raw, sources.report, sources.origins);
  } catch (Error& error) {
    add_origin(error, sources.origins);
    throw;
  }
  line.run.settings.config = sources.config;
  if (raw.print_config) {
    std::cout << config_text(app, sources.origins, sources.config);
    return line;
  }
  if (line.run.nothing_to_run.why.empty()) require_plugins(line.run.settings.plugins);
  line.run.reports = report_paths_of(raw);
  line.run.github = github_options_of(raw, line.run.reports);
  line.kind = CommandKind::Run;
  return line;
}

CommandLine parse_list(const Arguments& arguments) {
  Raw raw;
  bool json = false;
  CommandLine line;
  CLI::App app("Lists the tests of plugins: id, ranks, and why a test would be skipped.", "distrun list");
  add_selection(app, raw);
  begin_group(app, "Reports");
  app.add_flag("--json", json, "Print JSON with all properties of each test");
  app.add_option("--cmake", line.list.file,
                 "Write the tests to FILE, for distrun_discover_tests() of the CMake package")
      ->type_name("FILE");
  add_config(app, raw);
  if (!parse(app, arguments)) return line;
  const Sources sources = fill_in(app, raw);
  try {
    line.list.settings = settings_of(raw);
  } catch (Error& error) {
    add_origin(error, sources.origins);
    throw;
  }
  require_plugins(line.list.settings.plugins);
  if (json && !line.list.file.empty()) refuse("--json cannot be combined with --cmake; leave one of them out");
  line.list.form = json ? ListForm::Json : line.list.file.empty() ? ListForm::Text : ListForm::Cmake;
  line.kind = CommandKind::List;
  return line;
}

CommandLine parse_show(const Arguments& arguments) {
  Raw raw;
  ShowOptions show;
  CLI::App app("Prints an earlier run's report again from its summary.", "distrun show");
  begin_group(app, "Options");
  app.add_option("SUMMARY", show.report, "A summary written by --json or --output")
      ->required()
      ->type_name("SUMMARY.json");
  add_later_reports(app, raw);
  app.add_option("--slow", raw.slow, "List the N slowest tests at the end, and where their time went")->type_name("N");
  app.add_option("--color", raw.color, "Colours")->type_name(kColors);
  add_verbose(app, show.verbose);
  app.footer("\nIf a report is written to standard output (FILE is -), the text is not printed.");
  CommandLine line;
  if (!parse(app, arguments)) return line;
  line.kind = CommandKind::Show;
  show.color = color_of(raw.color);
  show.slow = number<std::size_t>("--slow", raw.slow, 0, kSlowMax);
  show.reports = {"", raw.junit, "", raw.ctrf};
  show.github = github_options_of(raw, show.reports);
  line.show = show;
  return line;
}

}  // namespace distrun::cli
