#pragma once
// Forks ranks from a zygote so that they become children of the coordinator.
//
// The zygote starts an intermediate process that shares its memory (CLONE_VM | CLONE_VFORK). The intermediate calls
// libc's fork() once per rank and exits; its orphaned children are adopted by the nearest subreaper, the coordinator.
// Unlike a double fork, this copies the page tables once per rank instead of twice; unlike a raw clone(CLONE_PARENT),
// libc's fork keeps thread ids, robust mutexes and atfork handlers correct.
#include <cstdint>
#include <vector>

namespace distrun::rank {

struct Forked {
  int rank = -1;                   // in a rank: its index in the request; in the zygote: -1
  std::vector<std::int32_t> pids;  // in the zygote: the pids of the ranks, all adopted
  int error = 0;                   // in the zygote: the errno of a failed fork; then there are fewer pids
};

// Returns once in the zygote and once in every rank. Single-threaded; signals should be blocked.
Forked fork_ranks(int count);

}  // namespace distrun::rank
