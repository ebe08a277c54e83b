#pragma once
// The number of threads for a rank's operators (DISTRUN_THREADS, runtime/tensor/core/parallel.hpp): an equal share of
// the CPUs for each rank that may run at the same time, unless the user's environment sets it.
#include <string>

namespace distrun::runner {

// Returns the whole CPUs, at least 1, that a cgroup allows by the text of its cpu.max ("200000 100000"). Returns
// `otherwise` if the text sets no limit or is not valid.
int cpus_of_quota(const std::string& text, int otherwise);

// Returns the CPUs that ranks on this machine may use, at least 1: those of this process, limited by its cgroup.
int cpus_for_ranks();

// Returns the value for the environment of ranks if `ranks` may run at the same time on `cpus`; at least "1".
std::string threads_each(int cpus, int ranks);

}  // namespace distrun::runner
