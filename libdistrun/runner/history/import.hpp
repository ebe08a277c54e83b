#pragma once
// Runs of elsewhere (a CI, another machine), from the summaries that distrun wrote there. A summary may come from
// anybody: it is refused as a whole or recorded as a whole.
#include <string>
#include <string_view>

#include <distrun/common/base/clock.hpp>
#include <distrun/runner/history/history.hpp>

namespace distrun::history {

struct Imported {
  std::string run_id;
  int tests = 0;
  bool is_new = true;  // false: the run was there already
};

// Throws Error{InvalidArgument} that says what is wrong with the summary: what report::read_summary() refuses, a run
// without an id, a test or a moment of beginning, one in the future, names beyond their limits.
Imported import_summary(History& history, std::string_view json, const base::Clock& clock = base::system_clock(),
                        const std::string& project = "");

}  // namespace distrun::history
