#pragma once
#include <cstdint>
#include <string>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

struct Place {
  std::string file;        // as the compiler was told it; empty: nobody knows
  std::uint32_t line = 0;  // 0: nobody knows
};

// Where to look first: the check or the crash of the first culprit that tells where it was; else where the test is
// written. `attempt` may be null.
Place failure_place(const runner::TestRecord& test, const runner::AttemptRecord* attempt);

}  // namespace distrun::report
