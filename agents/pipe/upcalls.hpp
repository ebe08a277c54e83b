#pragma once
// Guards calls into an object that may be destroyed soon: after close() no call begins, and wait_until_none() waits for
// the calls that have begun.
//
//   caller    counts itself, then checks whether it is closed
//   closer    closes, then waits until no caller is counted
//
// Both orders are seq_cst: a caller that the closer has not seen sees that it is closed.
#include <atomic>

namespace distrun::agents::pipe {

// Thread-safe.
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
    // Returns false if no call may be made.
    explicit operator bool() const noexcept { return !of_.is_closed_.load(); }

   private:
    Upcalls& of_;
  };

  bool is_closed() const noexcept { return is_closed_.load(); }
  void close() noexcept { is_closed_.store(true); }
  // Call after close(), not from within a call.
  void wait_until_none() const noexcept {
    for (int left = inside_.load(); left != 0; left = inside_.load()) inside_.wait(left);
  }

 private:
  std::atomic<bool> is_closed_{false};
  std::atomic<int> inside_{0};
};

}  // namespace distrun::agents::pipe
