// The arguments of `distrun history`.
#include <CLI/CLI.hpp>

#include <climits>

#include <distrun/runner/plan/filter.hpp>

#include "parsing.hpp"

namespace distrun::cli {
namespace {

constexpr int kUsualLimit = 50;

constexpr char kHistoryNotes[] = R"(
Examples:
  distrun history                        all tests: what fails now, what is flaky, the others
  distrun history 'Ring.*' --since 7d    each result of these tests in the last seven days
  distrun history --import ci/*/summary.json
                                         adds runs from elsewhere; known runs are not changed
  distrun history --suggest-timeouts     suggested values of --timeout

Notes:
  In the table, "pass" is how many of the last 20 results passed; "flaky" is the share that
  passed only on a retry, or differed from the previous result. Skipped and cancelled tests and
  infra errors do not count. Median and 95% are over all recorded attempts that passed, or over
  all if none did. Timeouts are suggested for tests that have passed at least 5 times: 5 times
  the 99th percentile, rounded up, and at least 10s.

  Tests of two projects may have the same ids. A run's project is its --project, else the git
  repository of the plugin; --import uses the repository of this directory.

Files:
  Every run adds its results to the file of --history, else of $DISTRUN_HISTORY (both: a file,
  or off), else to $XDG_STATE_HOME/distrun/history.db, else to
  ~/.local/state/distrun/history.db. Remove the file to forget all results.)";

base::Nanoseconds unit_of(char unit) {
  switch (unit) {
    case 's': return std::chrono::seconds(1);
    case 'm': return std::chrono::minutes(1);
    case 'h': return std::chrono::hours(1);
    case 'd': return std::chrono::days(1);
    case 'w': return std::chrono::weeks(1);
    default: return {};
  }
}

// Parses an age.
base::Nanoseconds parse_age(const std::string& text) {
  const base::Nanoseconds unit = text.empty() ? base::Nanoseconds{} : unit_of(text.back());
  if (unit.count() == 0) refuse("--since " + text + ": expected a time such as 90m, 12h, 7d or 4w");
  constexpr base::Nanoseconds kMost = std::chrono::years(100);
  return number<std::int64_t>("--since", text.substr(0, text.size() - 1), 1, kMost / unit) * unit;
}

void refuse_mixtures(const HistoryOptions& options, bool selects) {
  if (options.imports.empty()) return;
  if (selects || options.json || options.suggest_timeouts) {
    refuse("--import only adds runs; use a separate command to show results");
  }
}

}  // namespace

CommandLine parse_history(const Arguments& arguments) {
  CommandLine line;
  HistoryOptions& options = line.history;
  std::string since;
  std::string limit;
  std::string color = "auto";
  CLI::App app("Shows results of earlier runs: a table of all tests, or every result of some tests.",
               "distrun history");
  app.footer(kHistoryNotes);
  app.add_option("tests", options.patterns,
                 "Show every result of these tests: expressions as for --filter of a run, without tag: and np:")
      ->type_name("TEST");
  app.add_option("--since", since, "Show only results of runs that began at most TIME ago: 90m, 12h, 7d, 4w")
      ->type_name("TIME");
  app.add_option("--limit", limit, "Print at most N lines; 0: all (default 50; with --json all)")->type_name("N");
  app.add_flag("--json", options.json, "Print JSON");
  app.add_flag("--suggest-timeouts", options.suggest_timeouts, "Suggest a timeout for each test from its durations");
  app.add_option("--import", options.imports, "Add the runs of summaries from elsewhere to the history")
      ->type_name("SUMMARY.json");
  app.add_option("--history", options.history, "Use this history instead of the default one")->type_name("FILE");
  app.add_option(
         "--project", options.project,
         "Show only tests of this project, named as in the table and in --json; with --import: the project of the runs")
      ->type_name("NAME");
  app.add_option("--color", color, "Colours")->type_name(kColors)->capture_default_str();
  if (!parse(app, arguments)) return line;
  if (!since.empty()) options.since = parse_age(since);
  options.limit = limit.empty() ? (options.json ? 0 : kUsualLimit) : number("--limit", limit, 0, INT_MAX);
  options.color = color_of(color);
  if (runner::Filter(options.patterns).needs_table()) {
    refuse("the history has no tags and world sizes of tests; leave tag: and np: out");
  }
  refuse_mixtures(options, !options.patterns.empty() || !since.empty() || !limit.empty());
  line.kind = CommandKind::History;
  return line;
}

}  // namespace distrun::cli
