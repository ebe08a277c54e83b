#pragma once
// Forks ranks out of a zygote so that they become children of the coordinator.
//
// The zygote starts an intermediate that shares its memory (CLONE_VM | CLONE_VFORK); the intermediate calls libc's
// fork() once per rank and ends; its children are orphans then, and the nearest subreaper, the
// coordinator, adopts them. Compared with a double fork the page tables are copied once a rank instead
// of twice; compared with a raw clone(CLONE_PARENT) libc's own fork keeps thread ids, robust mutexes
// and atfork handlers right.
#include <cstdint>
#include <vector>

namespace distrun::rank {

struct Forked {
  int rank = -1;                   // in a rank: which one of the request; in the zygote: -1
  std::vector<std::int32_t> pids;  // in the zygote: of the ranks, all adopted by now
  int error = 0;                   // in the zygote: the errno of the fork that failed; fewer pids then
};

// Returns once in the zygote and once in every rank. One thread only; signals should be blocked.
Forked fork_ranks(int count);

}  // namespace distrun::rank
