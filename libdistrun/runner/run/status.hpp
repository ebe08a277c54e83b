#pragma once
// What the ranks of an attempt do at this moment, a line each, for `distrun ps`.
#include <distrun/common/wire/inspect.hpp>
#include <distrun/runner/attempt/attempt.hpp>

namespace distrun::runner {

// Fills in the test and its ranks. Reads the board and /proc; never blocks.
wire::TestStatus describe(const Attempt& attempt, base::TimePoint now);

}  // namespace distrun::runner
