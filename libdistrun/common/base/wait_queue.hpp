#pragma once
// Threads that wait under one mutex, each on a condition variable of its own, so that a given number of them can be
// woken. A std::condition_variable with several waiters may lose a notify_one() with the C library of Debian 12: one
// waiter was signalled, and all sleep on (glibc's bug 25847, in versions before 2.41; seen here with the threads of
// virtual devices). With one waiter it can not.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include <distrun/common/base/clock.hpp>

namespace distrun::base {

// Guarded by the mutex whose lock is passed to wait_until(); not thread-safe by itself.
class WaitQueue {
 public:
  // A thread that was taken out of the queue, and is to be woken.
  class Waiter {
   public:
    // Any thread, with or without the mutex.
    void notify() noexcept { woken_.notify_one(); }

   private:
    friend class WaitQueue;
    std::condition_variable woken_;
    bool is_taken_ = false;
  };

  // Blocks until the thread was taken and notified (true), or until the deadline (false).
  bool wait_until(std::unique_lock<std::mutex>& lock, TimePoint deadline = TimePoint::max());
  // Takes the thread that has come last. Null if none waits.
  std::shared_ptr<Waiter> take() noexcept;
  // Takes and notifies one; false if none waits.
  bool wake_one() noexcept;
  void wake_all() noexcept;
  int size() const noexcept { return static_cast<int>(waiters_.size()); }

 private:
  std::vector<std::shared_ptr<Waiter>> waiters_;
};

}  // namespace distrun::base
