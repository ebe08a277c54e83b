#pragma once
// Finds what each thread waits for, from its system call in /proc and the memory that the arguments point to. This
// needs the right to trace the process but does not stop it, so a thread may continue meanwhile.
#include <sys/types.h>

#include <chrono>
#include <vector>

#include <distrun/runner/evidence/proc/file_locks.hpp>
#include <distrun/runner/evidence/proc/remote_memory.hpp>
#include <distrun/runner/evidence/waits/blocked.hpp>
#include <distrun/runner/evidence/waits/connections.hpp>

namespace distrun::evidence {

// Returns the threads of the requested processes, at most 1024 of each process, sorted by thread id within a process.
// Omits the threads that are left at `end`.
std::vector<Blocked> blocked_threads(
    const Connections& all, std::chrono::steady_clock::time_point end = std::chrono::steady_clock::time_point::max());

// Inspects one thread of the process that `memory` belongs to. `lock_waits` comes from read_lock_waits().
Blocked blocked_thread(const Connections& all, const std::vector<LockWait>& lock_waits, const RemoteMemory& memory,
                       pid_t tid);

}  // namespace distrun::evidence
