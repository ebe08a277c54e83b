#pragma once
// What is copied of a stopped thread, so that it can be released before anything is made of it.
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include <distrun/runner/evidence/proc/syscalls.hpp>

#include "mappings.hpp"
#include "memory.hpp"
#include "registers.hpp"

namespace distrun::probe {

// The head of glibc's pthread_mutex_t, with the lock word that a waiter's futex call names.
struct MutexHead {
  std::int32_t lock = 0;  // 2: locked, and somebody waits
  std::uint32_t count = 0;
  std::int32_t owner = 0;
  std::uint32_t users = 0;
  std::int32_t kind = 0;
};

struct Capture {
  Registers registers;
  StackCopy stack;          // the used part, up to a limit
  std::uint64_t futex = 0;  // the address that the thread waits for; 0: none
  MutexHead at_futex;       // what is there, whatever it may be
};

// `tid` must be in ptrace-stop; at most `copy_max` bytes of its stack are copied. Empty if its registers cannot be
// read.
std::optional<Capture> capture_thread(pid_t tid, const Mappings& mappings, std::size_t copy_max);
// The same of a thread that sleeps in `call` and is not stopped. Empty if it did not sleep there all the time.
std::optional<Capture> capture_sleeping(pid_t pid, pid_t tid, const evidence::SyscallText& call,
                                        const Mappings& mappings, std::size_t copy_max);

}  // namespace distrun::probe
