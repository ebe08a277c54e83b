#include <distrun/runtime/core/deadline_thread.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include <distrun/common/base/leave_to_parent.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/core/wait.hpp>

namespace distrun::core {

// What a forked process cannot destroy: the thread, and what it may hold or wait on.
struct DeadlineThread::Shared {
  // Blocks until then, until a notification, or for a shorter time. A wait for nothing that a rank could do: it is not
  // recorded.
  void sleep(std::unique_lock<std::mutex>& lock, base::TimePoint until) {
    if (until == kForever) return changed.wait(lock);
    changed.wait_until(lock, until);
  }

  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by mutex.
  bool is_stopped = false;
  std::optional<base::Thread> thread;
};

DeadlineThread::DeadlineThread(std::string name, Work work)
    : name_(std::move(name)), work_(std::move(work)), next_(kForever), shared_(std::make_unique<Shared>()) {}

DeadlineThread::~DeadlineThread() {
  stop();
  if (mark_.is_inherited()) base::leave_to_parent(std::move(shared_));
}

void DeadlineThread::announce(base::TimePoint at) {
  if (mark_.is_inherited()) return;
  const std::lock_guard lock(shared_->mutex);
  if (shared_->is_stopped) return;
  if (!shared_->thread) shared_->thread.emplace(name_, [this] { run(); });
  if (at >= next_.load()) return;
  next_.store(at);
  shared_->changed.notify_one();
}

void DeadlineThread::run() {
  std::unique_lock lock(shared_->mutex);
  while (!shared_->is_stopped) {
    const base::TimePoint until = next_.load();
    if (until > base::system_clock().now()) {
      shared_->sleep(lock, until);
      continue;
    }
    next_.store(kForever);
    lock.unlock();
    const base::TimePoint at = work_();
    lock.lock();
    next_.store(std::min(next_.load(), at));
  }
}

void DeadlineThread::stop() noexcept {
  if (mark_.is_inherited()) return;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->is_stopped = true;
  }
  shared_->changed.notify_one();
  if (shared_->thread && shared_->thread->joinable()) shared_->thread->join();
}

}  // namespace distrun::core
