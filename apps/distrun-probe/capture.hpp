#pragma once
// A copy of the state of a stopped thread, taken so that the thread can be released before the state is analysed.
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <distrun/runner/evidence/proc/syscalls.hpp>

#include "mappings.hpp"
#include "memory.hpp"
#include "registers.hpp"

namespace distrun::probe {

// The head of glibc's pthread_mutex_t; its lock word is what a waiter's futex call names.
struct MutexHead {
  std::int32_t lock = 0;  // 2: locked, with waiters
  std::uint32_t count = 0;
  std::int32_t owner = 0;
  std::uint32_t users = 0;
  std::int32_t kind = 0;
};

// The memory around a futex: some words before it, then its own, then those behind it. Zero where it is not readable.
inline constexpr std::size_t kWordsBefore = 4;
using FutexWords = std::array<std::uint32_t, 12>;

struct Capture {
  Registers registers;
  StackCopy stack;            // the used part, up to a limit
  std::uint64_t futex = 0;    // the address that the thread waits for; 0: none
  MutexHead at_futex;         // the memory there, not necessarily a mutex
  FutexWords around_futex{};  // the same and more
};

// Captures a thread in ptrace-stop; copies at most `copy_max` bytes of its stack. Empty if that fails.
std::optional<Capture> capture_thread(pid_t tid, const Mappings& mappings, std::size_t copy_max);
// The same for a thread that sleeps in `call` and is not stopped. Empty if it has left the call meanwhile.
std::optional<Capture> capture_sleeping(pid_t pid, pid_t tid, const evidence::SyscallText& call,
                                        const Mappings& mappings, std::size_t copy_max);

}  // namespace distrun::probe
