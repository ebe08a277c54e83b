// distrun history: results of tests in earlier runs.
#include <unistd.h>

#include <cstdio>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/history/history.hpp>
#include <distrun/runner/history/import.hpp>
#include <distrun/runner/history/place.hpp>
#include <distrun/runner/history/project.hpp>

#include "commands.hpp"
#include "exit_codes.hpp"
#include "history_json.hpp"
#include "history_text.hpp"
#include "options/parsing.hpp"
#include "options/report_file.hpp"
#include "terminal/terminal.hpp"

namespace distrun::cli {
namespace {

// An interactive command, so it waits longer for other processes.
constexpr base::Milliseconds kPatience{5000};

std::string place_of(const HistoryOptions& options) {
  const auto place = history::find_place(options.history);
  if (place) return *place;
  refuse("the history is off or there is no home directory; name a file with --history or DISTRUN_HISTORY");
}

// Imports each file separately: a refused one does not affect the others.
int import_all(const HistoryOptions& options) {
  history::History history(place_of(options), history::History::Access::Write, {}, kPatience);
  int code = kSuccess;
  const std::string project = options.project.empty() ? history::project_of("./plugin", ".") : options.project;
  for (const std::string& path : options.imports) {
    try {
      const history::Imported imported =
          history::import_summary(history, read_report_text(path), base::system_clock(), project);
      std::printf("%s: run %s, %d %s%s\n", base::one_line(path, 400).c_str(), imported.run_id.c_str(), imported.tests,
                  imported.tests == 1 ? "test" : "tests", imported.is_new ? "" : ", already in the history");
    } catch (Error& error) {
      if (error.kind() != ErrorKind::InvalidArgument) throw;
      error.while_doing(base::one_line(path, 400));
      std::fprintf(stderr, "distrun: %s\n", base::printable(error.what()).c_str());
      code = kUsage;
    }
  }
  return code;
}

history::Selection selection_of(const HistoryOptions& options, std::int64_t now_ms) {
  history::Selection selection;
  selection.filter = runner::Filter(options.patterns);
  if (!options.project.empty()) selection.project = options.project;
  if (options.since.count() > 0) {
    selection.since_ms = now_ms - std::chrono::duration_cast<base::Milliseconds>(options.since).count();
  }
  return selection;
}

// Returns an empty text if there are no results.
std::string answer(const HistoryOptions& options, history::History& history) {
  const std::int64_t now_ms = base::system_clock().wall_ns() / 1'000'000;
  const history::Selection selection = selection_of(options, now_ms);
  const auto limit = static_cast<std::size_t>(options.limit);
  const TableStyle style{report::Paint(wants_color(options.color)), now_ms,
                         output_is_terminal() ? static_cast<std::size_t>(terminal_width()) : 0, limit};
  if (options.patterns.empty() || options.suggest_timeouts) {
    const std::vector<history::TestLine> lines = history.tests(selection);
    if (options.json) return table_json(lines, limit);
    if (lines.empty()) return "";
    return options.suggest_timeouts ? timeouts_text(lines, style) : table_text(lines, style);
  }
  const std::vector<history::Result> results = history.results(selection, limit);
  if (options.json) return results_json(results);
  return results.empty() ? "" : results_text(results, style);
}

// An empty history is normal; a question without results may be a mistake.
int tell_nothing(const HistoryOptions& options, const std::string& place) {
  if (options.suggest_timeouts) {
    std::fprintf(stderr, "distrun: no selected test has passed at least %d times, so no timeout can be suggested\n",
                 history::kEnoughToSuggest);
    return kNothingRan;
  }
  if (options.patterns.empty() && options.since.count() == 0 && options.project.empty()) {
    std::printf("the history is empty (%s)\n", base::one_line(place, 600).c_str());
    return kSuccess;
  }
  std::fputs("distrun: no result in the history matches; `distrun history` lists all tests\n", stderr);
  return kNothingRan;
}

}  // namespace

int history(const HistoryOptions& options) {
  if (!options.imports.empty()) return import_all(options);
  const std::string place = place_of(options);
  std::string text;
  if (::access(place.c_str(), F_OK) == 0) {
    history::History history(place, history::History::Access::Read, {}, kPatience);
    text = answer(options, history);
  } else if (options.json) {
    text = options.patterns.empty() ? table_json({}, 0) : results_json({});
  }
  if (text.empty()) return tell_nothing(options, place);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return kSuccess;
}

}  // namespace distrun::cli
