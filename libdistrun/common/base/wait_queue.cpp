#include <distrun/common/base/wait_queue.hpp>

#include <algorithm>
#include <utility>

namespace distrun::base {

bool WaitQueue::wait_until(std::unique_lock<std::mutex>& lock, TimePoint deadline) {
  thread_local const auto own = std::make_shared<Waiter>();  // a thread waits in one queue at a time
  own->is_taken_ = false;
  waiters_.push_back(own);
  const auto is_taken = [] { return own->is_taken_; };
  if (deadline == TimePoint::max()) {
    own->woken_.wait(lock, is_taken);
  } else {
    own->woken_.wait_until(lock, deadline, is_taken);
  }
  if (own->is_taken_) return true;
  std::erase(waiters_, own);
  return false;
}

std::shared_ptr<WaitQueue::Waiter> WaitQueue::take() noexcept {
  if (waiters_.empty()) return nullptr;
  std::shared_ptr<Waiter> taken = std::move(waiters_.back());
  waiters_.pop_back();
  taken->is_taken_ = true;
  return taken;
}

bool WaitQueue::wake_one() noexcept {
  const std::shared_ptr<Waiter> taken = take();
  if (taken == nullptr) return false;
  taken->notify();
  return true;
}

void WaitQueue::wake_all() noexcept {
  while (wake_one()) {
  }
}

}  // namespace distrun::base
