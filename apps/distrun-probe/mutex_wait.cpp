#include "mutex_wait.hpp"

#include <algorithm>
#include <cstdio>

namespace distrun::probe {
namespace {

constexpr std::int32_t kLockedAndWaitedFor = 2;
// The bits of __kind for the four plain types, for sharing between processes, and for lock elision. Robust mutexes and
// those with priorities use the lock word differently.
constexpr std::int32_t kPlainKinds = 0x3 | 0x80 | 0x100 | 0x200;

bool locks_a_mutex(const std::vector<std::string>& functions) {
  static constexpr const char* kLocks[] = {"lll_lock_wait", "pthread_mutex_lock", "pthread_mutex_timedlock",
                                           "pthread_mutex_clocklock", "pthread_mutex_cond_lock"};
  for (const std::string& function : functions) {
    for (const char* lock : kLocks) {
      if (function.find(lock) != std::string::npos) return true;
    }
  }
  return false;
}

}  // namespace

bool is_contended_mutex(const MutexHead& head) {
  return head.lock == kLockedAndWaitedFor && head.owner > 0 && head.users > 0 && (head.kind & ~kPlainKinds) == 0;
}

std::string describe_mutex_wait(const FutexWait& wait, std::int32_t waiter,
                                const std::vector<wire::ThreadStack>& threads) {
  if (wait.address == 0 || !is_contended_mutex(wait.head) || !locks_a_mutex(wait.functions)) return "";
  const auto owner = std::find_if(threads.begin(), threads.end(),
                                  [&](const wire::ThreadStack& thread) { return thread.task.tid == wait.head.owner; });
  if (owner == threads.end()) return "";
  char address[24];
  std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(wait.address));
  std::string text = std::string("mutex ") + address + " held by ";
  if (owner->task.tid == waiter) return text + "this thread itself";
  return text + "thread " + std::to_string(owner->task.tid) + " (" + owner->task.name + ")";
}

}  // namespace distrun::probe
