#include <distrun/runtime/future/handler_pool.hpp>

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/core/thread_state.hpp>

namespace distrun::future {
namespace {

using namespace std::chrono_literals;

constexpr auto kMoment = 10ms;  // in which some task must be taken, or no thread gets on
constexpr auto kIdle = 1s;
constexpr int kThreadsMax = 1000;  // a program that blocks more at a time waits for itself

// That get on at the same time. One would do; a second works while the first is in the kernel.
int workers_wanted() {
  static const int wanted = std::clamp(static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)), 2, 8);
  return wanted;
}

}  // namespace

HandlerPool::HandlerPool(core::RankState& rank) : rank_(rank) {}

void HandlerPool::post(std::unique_ptr<HandlerTask> task) {
  const std::lock_guard lock(mutex_);
  if (count_.threads == 0) start(Role::Worker);
  queue_.push_back(std::move(task));
  if (is_short()) start_if_short();
  posted_.notify_one();
}

HandlerPool::Statistics HandlerPool::statistics() const {
  const std::lock_guard lock(mutex_);
  Statistics now = count_;
  now.queued = queue_.size();
  return now;
}

// Where no thread can be had, the task waits for those that there are.
void HandlerPool::start_if_short() noexcept {
  try {
    if (workers() < workers_wanted()) {
      start(Role::Worker);
    } else if (watching_) {
      is_short_.notify_one();
    } else {
      start(Role::Watcher);
    }
  } catch (const Error&) {
    return;
  }
}

void HandlerPool::start(Role role) {
  if (count_.threads >= kThreadsMax) return;
  base::Thread("distrun-pool", [this, role] { serve(role); }).leave_running();
  ++count_.threads;
  count_.most_threads = std::max(count_.most_threads, count_.threads);
  if (role == Role::Watcher) {
    watching_ = true;
  } else {
    ++idle_;
  }
}

void HandlerPool::serve(Role role) {
  core::thread_state().rank = &rank_;
  core::wait_observer() = this;
  std::unique_lock lock(mutex_);
  if (role == Role::Watcher) watch(lock);
  while (wait_for_task(lock)) run_first(lock);
  --count_.threads;
}

// Returns when no other thread gets on.
void HandlerPool::watch(std::unique_lock<std::mutex>& lock) {
  for (;;) {
    is_short_.wait(lock, [this] { return is_short(); });
    const std::uint64_t before = taken_;
    is_short_.wait_for(lock, kMoment, [this] { return !is_short(); });
    if (is_short() && taken_ == before) break;
  }
  watching_ = false;
  ++idle_;
  if (is_short()) start_if_short();
}

// False: there are enough without this thread. An idle worker is no wait of anybody's, so nothing is shown.
bool HandlerPool::wait_for_task(std::unique_lock<std::mutex>& lock) {
  const auto has_task = [this] { return !queue_.empty(); };
  bool is_needed = true;
  while (queue_.empty() && is_needed) {
    if (workers() <= workers_wanted()) {
      posted_.wait(lock);
    } else {
      is_needed = posted_.wait_for(lock, kIdle, has_task) || workers() <= workers_wanted();
    }
  }
  --idle_;
  return !queue_.empty();
}

void HandlerPool::run_first(std::unique_lock<std::mutex>& lock) {
  std::unique_ptr<HandlerTask> task = std::move(queue_.front());
  queue_.pop_front();
  ++taken_;
  lock.unlock();
  task->run();
  task.reset();
  lock.lock();
  ++idle_;
}

void HandlerPool::begin_wait() noexcept {
  const std::lock_guard lock(mutex_);
  ++count_.blocked;
  if (is_short()) start_if_short();
}

void HandlerPool::end_wait() noexcept {
  const std::lock_guard lock(mutex_);
  --count_.blocked;
}

HandlerPool& handler_pool_of(core::RankState& rank) { return rank.part<HandlerPool>(core::Part::Handlers); }
HandlerPool& handler_pool() { return handler_pool_of(core::rank_state()); }

}  // namespace distrun::future
