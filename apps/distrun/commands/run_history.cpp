#include "run_history.hpp"

#include <unistd.h>

#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/history/history.hpp>
#include <distrun/runner/history/place.hpp>
#include <distrun/runner/history/project.hpp>
#include <distrun/runner/plan/ordering.hpp>

namespace distrun::cli {
namespace {

// A program belongs to the project of the directory in which it is started.
std::string project_of(const RunOptions& options, const std::string& plugin) {
  if (!options.project.empty()) return options.project;
  return history::project_of(options.settings.program.empty() ? plugin : "./program", ".");
}

using HintsByPlugin = std::map<std::string, runner::Hints>;  // by plugin path, as typed

HintsByPlugin hints_of(const RunOptions& options) {
  const auto place = history::find_place(options.history);
  if (!place || ::access(place->c_str(), F_OK) != 0) return {};  // nothing is known yet
  try {
    history::History history(*place, history::History::Access::Read);
    HintsByPlugin hints;
    for (const std::string& plugin : options.settings.plugins) {
      if (!hints.contains(plugin)) hints.emplace(plugin, history.hints(project_of(options, plugin)));
    }
    return hints;
  } catch (const Error& error) {
    if (options.order == TestOrder::FailedFirst) {
      std::fprintf(stderr, "distrun: --order failed-first cannot read the history: %s\n",
                   base::printable(error.what()).c_str());
    }
    return {};
  }
}

}  // namespace

void arrange_tests(const RunOptions& options, runner::Run& run, report::Estimate* estimate) {
  const runner::Settings& settings = options.settings;
  const bool runs_each_once = settings.repeat <= 1 && settings.until_fail == 0 && settings.stress.count() == 0;
  if (!runs_each_once || !settings.program.empty()) estimate = nullptr;
  const bool by_results = options.order == TestOrder::FailedFirst;
  if (!by_results && estimate == nullptr) return;
  run.arrange([&run, hints = hints_of(options), by_results, estimate](std::vector<runner::PlannedTest>& tests) {
    const auto hint_of = [&](const runner::PlannedTest& test) {
      const auto known = hints.find(test.plugin);
      return known == hints.end() ? runner::Hint{} : known->second.of(test.plugin, test.id);
    };
    if (by_results) runner::order_failed_first(tests, hint_of);
    for (const runner::PlannedTest& test : tests) {
      if (estimate != nullptr) estimate->expect(test.id, hint_of(test).median);
    }
    if (estimate != nullptr) estimate->at_once(run.record().settings.jobs);  // known once hosts have joined
  });
}

void remember(const RunOptions& options, const runner::RunRecord& run) {
  if (run.tests.empty() || options.settings.debug_rank >= 0 || options.settings.stress.count() > 0) return;
  const auto place = history::find_place(options.history);
  if (!place) return;
  try {
    history::History(*place, history::History::Access::Write).record(run, [&](const std::string& plugin) {
      return project_of(options, plugin);
    });
  } catch (const Error& error) {
    std::fprintf(stderr, "distrun: this run was not added to the history: %s\n", base::printable(error.what()).c_str());
  }
}

}  // namespace distrun::cli
