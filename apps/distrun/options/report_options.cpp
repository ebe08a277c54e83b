#include "report_options.hpp"

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <filesystem>

#include <distrun/common/trace/layout.hpp>
#include <distrun/runner/report/files/destination.hpp>

#include "parsing.hpp"

namespace distrun::cli {
namespace {

void add_later_files(CLI::App& app, Raw& raw) {
  app.add_option("--junit", raw.junit, "Write JUnit XML for CI")->type_name("FILE");
  app.add_option("--ctrf", raw.ctrf, "Write a CTRF report (Common Test Report Format, ctrf.io)")->type_name("FILE");
}

void add_files_of_run(CLI::App& app, Raw& raw) {
  app.add_option("-o,--output", raw.output, "Write summary.json, junit.xml and events.ndjson to DIR")->type_name("DIR");
  app.add_option("--json", raw.json, "Write the summary as JSON (see: distrun show)")->type_name("FILE");
  app.add_option("--events", raw.events, "Write every event as a line of JSON during the run")->type_name("FILE");
  app.add_flag("--env-values", raw.env_values,
               "Include the values of --env in reports, which others may be able to read (default: only the names)");
}

void add_trace(CLI::App& app, Raw& raw) {
  app.add_option(
         "--trace", raw.trace,
         "Write a trace of each attempt's ranks to DIR/Suite.name.json for ui.perfetto.dev or chrome://tracing: waits, "
         "RPC calls, collectives, operators, work on streams; also of ranks that hang or die")
      ->type_name("DIR");
  app.add_option("--trace-records", raw.trace_records,
                 "In a trace, keep the last N events of each rank, 128 bytes of memory each")
      ->type_name("N");
}

void make_directory(const std::string& option, const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) refuse(option + " " + path + ": cannot create the directory: " + error.message());
}

void add_color(CLI::App& app, Raw& raw) {
  app.add_option("--color", raw.color, "Use colours; auto: on a terminal, unless NO_COLOR is set")->type_name(kColors);
}

}  // namespace

void add_later_reports(CLI::App& app, Raw& raw) {
  add_later_files(app, raw);
  app.add_flag("--github", raw.github,
               "Write annotations and a step summary for GitHub Actions; WHEN is on (if omitted), auto (only if "
               "GITHUB_ACTIONS is true) or off; without this option: off")
      ->type_name("[=WHEN]");
  app.add_flag("--github-skips", raw.github_skips, "With --github, include skipped tests");
}

void add_reports(CLI::App& app, Raw& raw) {
  begin_group(app, "Reports");
  add_files_of_run(app, raw);
  add_later_reports(app, raw);
  add_trace(app, raw);
  app.add_option("--slow", raw.slow, "List the N slowest tests at the end, and where their time went")->type_name("N");
  app.add_option("--slow-after", raw.slow_after,
                 "Without a terminal, print a line for a test that runs for TIME, with what its ranks wait for, again "
                 "after twice the time, then every five minutes; 0: never")
      ->type_name("TIME");
  app.add_option("--history", raw.history,
                 "Remember the run in this file (default: ~/.local/state/distrun/history.db); off: do not remember it; "
                 "see distrun history --help")
      ->type_name("FILE|off");
  app.add_option("--project", raw.project,
                 "Project of these tests in the history, for several checkouts of one project (default: the git "
                 "repository of the plugin)")
      ->type_name("NAME");
  add_color(app, raw);
  app.add_flag("-q,--quiet", raw.quiet, "Print only failures and totals");
  app.add_flag("-s,--show-output", raw.show_output, "Also print the output of the ranks of passing tests");
  app.add_flag(
      "--live-output", raw.live_output,
      "Print the output of ranks while they run, line by line, prefixed with the rank; for one test at a time");
  add_verbose(app, raw.verbose);
}

void add_verbose(CLI::App& app, bool& verbose) {
  app.add_flag("-v,--verbose", verbose,
               "Also print notes that change no verdict, such as new names in /tmp that may be another user's");
}

void add_program_reports(CLI::App& app, Raw& raw) {
  begin_group(app, "Reports");
  add_files_of_run(app, raw);
  add_later_files(app, raw);
  add_color(app, raw);
}

void add_trace_settings(const Raw& raw, runner::Settings& settings) {
  settings.trace_records =
      number<std::uint64_t>("--trace-records", raw.trace_records, trace::kRecordsMin, trace::kRecordsMax);
  settings.trace_dir = raw.trace;
}

ReportPaths report_paths_of(const Raw& raw) {
  ReportPaths paths{raw.json, raw.junit, raw.events, raw.ctrf};
  if (!raw.trace.empty()) make_directory("--trace", raw.trace);
  if (raw.output.empty()) return paths;
  const auto otherwise = [&](std::string& path, const char* name) {
    if (path.empty()) path = raw.output + "/" + name;
  };
  make_directory("--output", raw.output);
  otherwise(paths.summary, "summary.json");
  otherwise(paths.junit, "junit.xml");
  otherwise(paths.events, "events.ndjson");
  return paths;
}

// GitHub reads standard output, so no other report may be written there.
void set_console(const Raw& raw, RunOptions& run) {
  const auto refuse_beside_quiet = [&](bool is_set, const std::string& option) {
    if (raw.quiet && is_set) refuse(option + " cannot be combined with --quiet; leave one of them out");
  };
  refuse_beside_quiet(raw.show_output, "--show-output");
  refuse_beside_quiet(raw.live_output, "--live-output");
  refuse_beside_quiet(raw.verbose, "--verbose");
  if (raw.live_output && run.settings.stress.count() > 0) {
    refuse("--live-output cannot be combined with --stress, which runs copies of tests side by side");
  }
  if (raw.live_output && (run.settings.jobs > 1 || run.hosts.jobs_by_cpus)) {
    refuse("--live-output shows one test at a time; leave it or --jobs out, or add --jobs 1");
  }
  run.quiet = raw.quiet;
  run.show_output = raw.show_output;
  run.live_output = raw.live_output;
  run.verbose = raw.verbose;
  run.slow = number<std::size_t>("--slow", raw.slow, 0, kSlowMax);
  run.slow_after = time_or_never("--slow-after", raw.slow_after);
}

GithubOptions github_options_of(const Raw& raw, const ReportPaths& reports) {
  const std::string when = raw.github == "true" ? "on" : raw.github;  // CLI11's value of a flag without one
  one_of("--github", when, {"off", "auto", "on"});
  GithubOptions options;
  if (when == "on") options.choice = GithubChoice::On;
  if (when == "auto") options.choice = GithubChoice::Auto;
  options.skips = raw.github_skips;
  if (options.skips && options.choice == GithubChoice::Off) refuse("--github-skips needs --github; add it");
  if (options.choice == GithubChoice::On && writes_to_stdout(reports)) {
    refuse("--github and a report both write to standard output; write the report to a file, or use --github=auto");
  }
  return options;
}

bool writes_to_stdout(const ReportPaths& paths) {
  for (const std::string& path : {paths.summary, paths.junit, paths.events, paths.ctrf}) {
    if (!path.empty() && report::descriptor_named(path) == STDOUT_FILENO) return true;
  }
  return false;
}

}  // namespace distrun::cli
