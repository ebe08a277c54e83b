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
                                         adds runs of elsewhere; one that is there stays as it is
  distrun history --suggest-timeouts     what --timeout could be

Notes:
  In the table, "pass" is the share of the last 20 results that passed; "flaky" is the share of
  them that passed on a retry only, or came out otherwise than the one before. Skipped and
  cancelled tests, and infra errors, do not count. Durations are those of one attempt that
  passed; median and 95th percentile are over all results that are kept. A suggested timeout is
  5 times the 99th percentile, at least 10s, for tests that have passed 5 times or more.

  Tests of two projects may have the same ids: a project is what the runs said with --project,
  else the git repository that the plugin lay in. --import takes the one of this directory.

Files:
  Every run remembers what came of its tests in the file of --history, else of $DISTRUN_HISTORY
  (both: a file, or off), else in $XDG_STATE_HOME/distrun/history.db, else in
  ~/.local/state/distrun/history.db. Remove the file to forget all of it.)";

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
  if (unit.count() == 0) refuse("--since " + text + ": a time such as 90m, 12h, 7d or 4w is wanted");
  constexpr base::Nanoseconds kMost = std::chrono::years(100);
  return number<std::int64_t>("--since", text.substr(0, text.size() - 1), 1, kMost / unit) * unit;
}

void refuse_mixtures(const HistoryOptions& options, bool selects) {
  if (options.imports.empty()) return;
  if (selects || options.json || options.suggest_timeouts) {
    refuse("--import adds runs and shows nothing; ask for the rest in a command of its own");
  }
}

}  // namespace

CommandLine parse_history(const Arguments& arguments) {
  CommandLine line;
  HistoryOptions& options = line.history;
  std::string since;
  std::string limit;
  std::string color = "auto";
  CLI::App app("What came of tests in earlier runs: a table of all of them, or every result of some.",
               "distrun history");
  app.footer(kHistoryNotes);
  app.add_option("tests", options.patterns, "Every result of these tests: ids or globs, as a run's --filter takes them")
      ->type_name("TEST");
  app.add_option("--since", since, "Only results of runs that began so long ago at most: 90m, 12h, 7d, 4w")
      ->type_name("TIME");
  app.add_option("--limit", limit, "Lines at most; 0: all (default 50, and all of them with --json)")->type_name("N");
  app.add_flag("--json", options.json, "As JSON");
  app.add_flag("--suggest-timeouts", options.suggest_timeouts, "A timeout for each test, from how long it takes");
  app.add_option("--import", options.imports, "Add the runs of summaries that distrun wrote elsewhere")
      ->type_name("SUMMARY.json");
  app.add_option("--history", options.history, "Another history than the usual one")->type_name("FILE");
  app.add_option("--project", options.project,
                 "Only tests of this project, as the table and --json name it; with --import: whose runs they are")
      ->type_name("NAME");
  app.add_option("--color", color, "Colours")->type_name(kColors)->capture_default_str();
  if (!parse(app, arguments)) return line;
  if (!since.empty()) options.since = parse_age(since);
  options.limit = limit.empty() ? (options.json ? 0 : kUsualLimit) : number("--limit", limit, 0, INT_MAX);
  options.color = color_of(color);
  [[maybe_unused]] const runner::Filter refuses_now(options.patterns);
  refuse_mixtures(options, !options.patterns.empty() || !since.empty() || !limit.empty());
  line.kind = CommandKind::History;
  return line;
}

}  // namespace distrun::cli
