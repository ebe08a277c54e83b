#pragma once
// Decodes what a system call waits for, from its number and arguments, with a function for each shape of call.
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
// Returns a descriptor, a process id, a command.
inline int int_of(std::uint64_t argument) noexcept { return static_cast<int>(static_cast<std::uint32_t>(argument)); }

// Fills kind, call, fds, pids, lock, lock_key, bounded and limit; `blocked` identifies the thread.
void decode_call(const CallPlace& place, Blocked& blocked);

// Returns the children, including zombies, whichever thread forked them.
std::vector<pid_t> children_of(pid_t pid);

// Decodes a futex call. It has a separate source file, since the futex word says more than the call.
void decode_futex(const RemoteMemory& memory, const SyscallText& call, Blocked& blocked);

// Decodes an open or a connect, which wait for a partner. `path` is the index of the path among the arguments.
void decode_open(const CallPlace& place, std::size_t path, Blocked& blocked);
void decode_connect(const CallPlace& place, Blocked& blocked);

// Notes the time limit that a socket has for all its calls (SO_RCVTIMEO, SO_SNDTIMEO); does nothing for other files.
void set_socket_limit(const Descriptor* descriptor, bool writes, Blocked& blocked);

// Returns "1.5 s", "20 ms", "2 days".
std::string shown_length(std::int64_t seconds, std::int64_t nanoseconds);

}  // namespace distrun::evidence
