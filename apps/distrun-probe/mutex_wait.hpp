#pragma once
// Who holds the mutex that a thread waits for, from what glibc keeps in a pthread_mutex_t: a pure rule, and a strict
// one. It must never take a condition variable, a semaphore or a futex of somebody's own for a mutex. Any thread.
#include <string>
#include <vector>

#include <distrun/common/wire/stacks.hpp>

#include "capture.hpp"

namespace distrun::probe {

struct FutexWait {
  std::uint64_t address = 0;
  MutexHead head;
  std::vector<std::string> functions;  // the waiter's innermost
};

// "mutex 0x55... held by thread 4711 (worker)"; empty if it is not sure. `threads` are all of the process; `waiter` is
// the thread id of who waits.
std::string describe_mutex_wait(const FutexWait& wait, std::int32_t waiter,
                                const std::vector<wire::ThreadStack>& threads);

}  // namespace distrun::probe
