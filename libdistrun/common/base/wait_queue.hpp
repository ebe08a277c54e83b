#pragma once
// Threads that wait under one mutex, each on a separate condition variable, so that a given number of them can be
// woken. A std::condition_variable with several waiters can lose a notify_one() in glibc before 2.41 (its bug 25847),
// such as Debian 12's: all waiters keep sleeping. With a single waiter it does not.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include <distrun/common/base/clock.hpp>

namespace distrun::base {

// Guarded by the mutex that wait_until() gets a lock of; has no lock itself.
class WaitQueue {
 public:
  // A thread that was taken out of the queue and will be woken.
  class Waiter {
   public:
    // Any thread, with or without the mutex.
    void notify() noexcept { woken_.notify_one(); }

   private:
    friend class WaitQueue;
    std::condition_variable woken_;
    bool is_taken_ = false;
  };

  // Blocks until the thread was taken and notified (returns true), or until the deadline (false).
  bool wait_until(std::unique_lock<std::mutex>& lock, TimePoint deadline = TimePoint::max());
  // Takes the thread that arrived last; null if none waits.
  std::shared_ptr<Waiter> take() noexcept;
  // Takes and notifies one thread; false if none waits.
  bool wake_one() noexcept;
  void wake_all() noexcept;
  int size() const noexcept { return static_cast<int>(waiters_.size()); }

 private:
  std::vector<std::shared_ptr<Waiter>> waiters_;
};

}  // namespace distrun::base
