#pragma once
// The number of threads for a rank's operators (DISTRUN_THREADS, runtime/tensor/core/parallel.hpp): an equal share of
// the CPUs for each rank that may run at the same time, unless the user's environment sets it.
#include <string>

namespace distrun::runner {

// Returns the whole CPUs, at least 1, that a cgroup allows by the text of its cpu.max ("200000 100000"). Returns
// `otherwise` if the text sets no limit or is not valid.
int cpus_of_quota(const std::string& text, int otherwise);

// Returns the value for the ranks' environment; at least "1".
std::string threads_each(int ranks, int jobs);

}  // namespace distrun::runner
