#pragma once
// A rank's last moment as an error of that rank: what ended it and where, in words. Pure.
#include <distrun/common/board/dump_area.hpp>
#include <distrun/runner/evidence/stacks/stacks.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// `stacks` hold the dump of `rank`, with names, or nothing, if there was no way to get them. Type: the exception's, the
// signal's name, or "exit" of who has called it. File and line are those of the innermost frame of the test's own code.
RankError crash_error(int rank, const board::Dump& dump, const evidence::Stacks& stacks);

}  // namespace distrun::runner
