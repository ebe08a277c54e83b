#include "run_history.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/history/history.hpp>
#include <distrun/runner/history/place.hpp>
#include <distrun/runner/history/project.hpp>
#include <distrun/runner/plan/ordering.hpp>

namespace distrun::cli {
namespace {

std::string project_of(const RunOptions& options) {
  if (!options.project.empty()) return options.project;
  const auto& plugins = options.settings.plugins;
  return history::project_of(plugins.empty() ? "./plugin" : plugins.front(), ".");
}

runner::Hints hints_of(const RunOptions& options) {
  const auto place = history::find_place(options.history);
  if (!place || ::access(place->c_str(), F_OK) != 0) return {};  // nothing is known yet
  try {
    return history::History(*place, history::History::Access::Read).hints(project_of(options));
  } catch (const Error& error) {
    std::fprintf(stderr, "distrun: --order failed-first knows nothing of earlier runs: %s\n",
                 base::printable(error.what()).c_str());
    return {};
  }
}

}  // namespace

void arrange_tests(const RunOptions& options, runner::Run& run) {
  if (options.order != TestOrder::FailedFirst) return;
  run.arrange([hints = hints_of(options)](std::vector<runner::PlannedTest>& tests) {
    runner::order_failed_first(tests, hints);
  });
}

void remember(const RunOptions& options, const runner::RunRecord& run) {
  if (run.tests.empty() || options.settings.debug_rank >= 0) return;
  const auto place = history::find_place(options.history);
  if (!place) return;
  try {
    history::History(*place, history::History::Access::Write).record(run, project_of(options));
  } catch (const Error& error) {
    std::fprintf(stderr, "distrun: this run is not in the history: %s\n", base::printable(error.what()).c_str());
  }
}

}  // namespace distrun::cli
