#pragma once
// Calls into an object that may be gone soon: once it is closed, no call begins, and close is followed by
// a wait for the calls that have begun.
//
//   caller    counts itself, then asks whether it is closed
//   closer    closes, then waits until no caller is counted
//
// Both in one order for all threads (seq_cst): a caller that was not seen by the closer sees that it is closed.
#include <atomic>

namespace distrun::agents::pipe {

// Any thread.
class Upcalls {
 public:
  class Inside {
   public:
    explicit Inside(Upcalls& of) noexcept : of_(of) { of_.inside_.fetch_add(1); }
    ~Inside() {
      if (of_.inside_.fetch_sub(1) == 1 && of_.is_closed_.load()) of_.inside_.notify_all();
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    // False: no call may be made.
    explicit operator bool() const noexcept { return !of_.is_closed_.load(); }

   private:
    Upcalls& of_;
  };

  bool is_closed() const noexcept { return is_closed_.load(); }
  void close() noexcept { is_closed_.store(true); }
  // After close(); not from within a call.
  void wait_until_none() const noexcept {
    for (int left = inside_.load(); left != 0; left = inside_.load()) inside_.wait(left);
  }

 private:
  std::atomic<bool> is_closed_{false};
  std::atomic<int> inside_{0};
};

}  // namespace distrun::agents::pipe
