#pragma once
// A barrier that says who has not come to it, and ends no group.
#include <distrun/runtime/collectives/process_group.hpp>

namespace distrun::collectives {

// All ranks of the group call it. Rank 0 throws Error{Timeout} with the first rank that has not come in time, or, with
// `wait_all_ranks`, with all of them; the others then throw that they have come but were not let go. `timeout`: else
// the group's.
void monitored_barrier(ProcessGroup& group, std::optional<base::Nanoseconds> timeout = {}, bool wait_all_ranks = false,
                       base::Location site = base::Location::here());

}  // namespace distrun::collectives
