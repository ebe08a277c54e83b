#pragma once
// Describes how a rank ended as an error of that rank: what ended it and where. Pure.
#include <distrun/common/board/dump_area.hpp>
#include <distrun/runner/evidence/stacks/stacks.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// `stacks` hold the dump of `rank` with names, or nothing. The error's type is that of the exception, the signal's
// name, or "exit" if the rank called it. File and line are those of the innermost frame of the test's own code.
RankError crash_error(int rank, const board::Dump& dump, const evidence::Stacks& stacks);

}  // namespace distrun::runner
