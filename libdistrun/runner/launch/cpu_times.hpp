#pragma once
// The CPU times of a snapshot's threads after the snapshot. Taking stacks stops threads, which costs each of them some
// microseconds: only the times read after that can show that a thread did nothing until the next snapshot. Callable on
// any thread; reads /proc, about 5 us per thread, of at most 8192 threads.
#include <sys/types.h>

#include <cstdint>
#include <optional>

#include <distrun/runner/evidence/stacks/stacks.hpp>

namespace distrun::launch {

// Replaces the CPU times by those of now; 0 (unknown) for threads beyond the limit, and those of other machines.
void read_cpu_times_again(evidence::Stacks& stacks);

// Returns the CPU time that the process and everything that it has started have used; nothing if one of their threads
// is running.
std::optional<std::uint64_t> cpu_time_at_rest(pid_t pid);

}  // namespace distrun::launch
