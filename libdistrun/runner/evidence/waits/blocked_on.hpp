#pragma once
// For what each thread waits: from its system call as /proc tells it, with what lies at the arguments' addresses.
// Reading that takes the right to trace the process; it does not stop it, so a thread may go on meanwhile.
#include <sys/types.h>

#include <vector>

#include <distrun/runner/evidence/proc/file_locks.hpp>
#include <distrun/runner/evidence/proc/remote_memory.hpp>
#include <distrun/runner/evidence/waits/blocked.hpp>
#include <distrun/runner/evidence/waits/connections.hpp>

namespace distrun::evidence {

// Every thread of the processes asked for, at most 1024 of each process; those of one process by thread id.
std::vector<Blocked> blocked_threads(const Connections& all);

// One thread of the process that `memory` is of. `lock_waits` is read_lock_waits().
Blocked blocked_thread(const Connections& all, const std::vector<LockWait>& lock_waits, const RemoteMemory& memory,
                       pid_t tid);

}  // namespace distrun::evidence
