#pragma once
// Finds the holder of the mutex that a thread waits for, from glibc's pthread_mutex_t. A pure and strict function: it
// must never take a condition variable, a semaphore or a user's futex for a mutex. Thread-safe.
#include <string>
#include <vector>

#include <distrun/common/wire/stacks.hpp>

#include "capture.hpp"

namespace distrun::probe {

// Returns whether it looks like a mutex that is held and waited for.
bool is_contended_mutex(const MutexHead& head);

struct FutexWait {
  std::uint64_t address = 0;
  MutexHead head;
  std::vector<std::string> functions;  // innermost ones of the waiter
};

// Returns "mutex 0x55... held by thread 4711 (worker)"; empty if not certain. `threads` are all of the process;
// `waiter` is the id of the waiting thread.
std::string describe_mutex_wait(const FutexWait& wait, std::int32_t waiter,
                                const std::vector<wire::ThreadStack>& threads);

}  // namespace distrun::probe
