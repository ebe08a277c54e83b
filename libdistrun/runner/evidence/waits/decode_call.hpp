#pragma once
// What a system call waits for, from its number and arguments. One function for each shape of call.
#include <distrun/runner/evidence/proc/file_locks.hpp>
#include <distrun/runner/evidence/proc/remote_memory.hpp>
#include <distrun/runner/evidence/proc/syscalls.hpp>
#include <distrun/runner/evidence/waits/blocked.hpp>

namespace distrun::evidence {

struct CallPlace {
  const Connections& all;
  const std::vector<LockWait>& lock_waits;
  const RemoteMemory& memory;
  const CallInfo& info;
  const SyscallText& call;
};
// Fills kind, call, fds, pids, lock, lock_key, bounded and limit; `blocked` says which thread.
void decode_call(const CallPlace& place, Blocked& blocked);

// Its children, zombies included, whichever thread forked them.
std::vector<pid_t> children_of(pid_t pid);

// A futex, which is a file of its own since its word tells more than the call does.
void decode_futex(const RemoteMemory& memory, const SyscallText& call, Blocked& blocked);

// "1.5 s", "20 ms", "2 days".
std::string shown_length(std::int64_t seconds, std::int64_t nanoseconds);

}  // namespace distrun::evidence
