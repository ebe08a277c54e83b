#pragma once
// Threads that wait under one mutex, each on a separate condition variable, so that a given number of them can be
// woken. A std::condition_variable with several waiters can lose a notify_one() in glibc before 2.41 (its bug 25847),
// such as Debian 12's: all waiters keep sleeping. With a single waiter it does not.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

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
    std::shared_ptr<Waiter> below_;  // that arrived before it; null: none
  };

  // Creates the object with which a thread waits. A thread whose waits must not fail gets one when it starts; other
  // threads create theirs in their first wait, which may throw std::bad_alloc.
  static std::shared_ptr<Waiter> make_waiter() { return std::make_shared<Waiter>(); }
  static void give_to_this_thread(std::shared_ptr<Waiter> waiter) noexcept;

  // Blocks until the thread was taken and notified (true), or until the deadline (false).
  bool wait_until(std::unique_lock<std::mutex>& lock, TimePoint deadline = TimePoint::max());
  // Takes the thread that arrived last; null if none waits.
  std::shared_ptr<Waiter> take() noexcept;
  // Takes and notifies one thread; false if none waits.
  bool wake_one() noexcept;
  void wake_all() noexcept;
  int size() const noexcept { return size_; }

 private:
  void remove(const Waiter& waiter) noexcept;

  std::shared_ptr<Waiter> top_;  // that has come last
  int size_ = 0;
};

}  // namespace distrun::base
