#pragma once
// How a case says that it cannot run here. Catch2 2.13 has no word for that, and a case that returns early has passed.
#include <string>

namespace distrun::testing {

// Ends the case and tells why, as "skipped: why" on stderr. A binary of which every case that ran has skipped, and none
// failed, exits with 77: ctest, which runs a case at a time, shows it as skipped, and scripts/count-junit tells why.
// On the thread that runs the case only.
[[noreturn]] void skip_case(const std::string& why);

inline void skip_case_if(bool cannot_run, const std::string& why) {
  if (cannot_run) skip_case(why);
}

}  // namespace distrun::testing
