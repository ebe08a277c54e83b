#pragma once
// Skips a case that cannot run here. Catch2 2.13 cannot skip: a case that returns early has passed.
#include <string>

namespace distrun::testing {

// Ends the case and prints "skipped: why" to stderr. If every case of the binary that ran has skipped and none failed,
// the binary exits with 77: ctest, which runs one case at a time, shows it as skipped, and scripts/count-junit prints
// the reason. Call on the thread that runs the case.
[[noreturn]] void skip_case(const std::string& why);

inline void skip_case_if(bool cannot_run, const std::string& why) {
  if (cannot_run) skip_case(why);
}

}  // namespace distrun::testing
