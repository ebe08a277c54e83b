#pragma once
// Describes the current activity of an attempt's ranks, a line each, for `distrun ps`.
#include <distrun/common/wire/inspect.hpp>
#include <distrun/runner/attempt/attempt.hpp>

namespace distrun::runner {

// Returns the test and its ranks. Reads the board and /proc; never blocks.
wire::TestStatus describe(const Attempt& attempt, base::TimePoint now);

}  // namespace distrun::runner
