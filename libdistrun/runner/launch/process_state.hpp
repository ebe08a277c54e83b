#pragma once
// Reads the state of a rank's process from /proc. Never blocks.
#include <sys/types.h>

#include <functional>

#include <distrun/runner/launch/node.hpp>

namespace distrun::launch {

// `is_from_ranks` tells a tracer that the ranks have started from a debugger. All false for the pid 0.
ProcessState process_state_of(pid_t pid, const std::function<bool(pid_t)>& is_from_ranks);

}  // namespace distrun::launch
