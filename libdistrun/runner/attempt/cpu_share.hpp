#pragma once
// How many threads a rank's operators may use (DISTRUN_THREADS, runtime/tensor/core/parallel.hpp): an equal share of
// the CPUs for each rank that may run at the same time, unless the user's own environment says something else.
#include <string>

namespace distrun::runner {

// What a group of processes may use of the CPUs, by the text of its cgroup's cpu.max, "200000 100000": whole CPUs, at
// least 1. `otherwise` if the text sets no limit, or is none.
int cpus_of_quota(const std::string& text, int otherwise);

// For the ranks' environment; "1" at least.
std::string threads_each(int ranks, int jobs);

}  // namespace distrun::runner
