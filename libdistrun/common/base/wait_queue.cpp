#include <distrun/common/base/wait_queue.hpp>

#include <utility>

#include <distrun/common/base/thread_object.hpp>

namespace distrun::base {

namespace {

// A thread waits in one queue at a time.
struct OwnWaiter {
  std::shared_ptr<WaitQueue::Waiter> waiter;
};

std::shared_ptr<WaitQueue::Waiter>& own_waiter() noexcept { return ThreadObject<OwnWaiter>::get().waiter; }

}  // namespace

void WaitQueue::give_to_this_thread(std::shared_ptr<Waiter> waiter) noexcept { own_waiter() = std::move(waiter); }

bool WaitQueue::wait_until(std::unique_lock<std::mutex>& lock, TimePoint deadline) {
  std::shared_ptr<Waiter>& own = own_waiter();
  if (own == nullptr) own = make_waiter();
  own->is_taken_ = false;
  own->below_ = std::move(top_);
  top_ = own;
  ++size_;
  const auto is_taken = [&own] { return own->is_taken_; };
  if (deadline == TimePoint::max()) {
    own->woken_.wait(lock, is_taken);
  } else {
    own->woken_.wait_until(lock, deadline, is_taken);
  }
  if (own->is_taken_) return true;
  remove(*own);
  return false;
}

void WaitQueue::remove(const Waiter& waiter) noexcept {
  std::shared_ptr<Waiter>* each = &top_;
  while (each->get() != &waiter) each = &(*each)->below_;
  std::shared_ptr<Waiter> below = std::move((*each)->below_);
  *each = std::move(below);
  --size_;
}

std::shared_ptr<WaitQueue::Waiter> WaitQueue::take() noexcept {
  if (top_ == nullptr) return nullptr;
  std::shared_ptr<Waiter> taken = std::move(top_);
  top_ = std::move(taken->below_);
  --size_;
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
