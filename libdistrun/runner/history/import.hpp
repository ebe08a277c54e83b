#pragma once
// Imports runs from elsewhere (a CI, another machine), from the summaries that distrun wrote there. Summaries are
// untrusted: each is recorded or refused as a whole.
#include <string>
#include <string_view>

#include <distrun/common/base/clock.hpp>
#include <distrun/runner/history/history.hpp>

namespace distrun::history {

struct Imported {
  std::string run_id;
  int tests = 0;
  bool is_new = true;  // false: the run was already recorded
};

// Throws Error{InvalidArgument} that says what is wrong with the summary: the errors of report::read_summary(), a run
// without an id, tests or a start time, a run in the future, or names beyond their limits.
Imported import_summary(History& history, std::string_view json, const base::Clock& clock = base::system_clock(),
                        const std::string& project = "");

}  // namespace distrun::history
