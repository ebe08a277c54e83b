#pragma once
// A barrier that names the absent ranks and does not end the group when it fails.
#include <distrun/runtime/collectives/process_group.hpp>

namespace distrun::collectives {

// All ranks of the group call it. Rank 0 throws Error{Timeout} with the first rank that has not arrived in time, or,
// with `wait_all_ranks`, with all of them; the others throw that they arrived but were not released. `timeout` defaults
// to the group's.
void monitored_barrier(ProcessGroup& group, std::optional<base::Nanoseconds> timeout = {}, bool wait_all_ranks = false,
                       base::Location site = base::Location::here());

}  // namespace distrun::collectives
