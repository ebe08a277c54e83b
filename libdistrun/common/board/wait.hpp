#pragma once
// The one way to block in a rank: a wait that is on the board as long as it lasts. Code that blocks otherwise cannot be
// explained when it hangs; scripts/tidy looks for it.
#include <condition_variable>
#include <mutex>

#include <distrun/common/board/slot_writer.hpp>

namespace distrun::board {

// Shows a wait from construction to destruction. For waits inside other code: a library call, poll().
class Wait {
 public:
  // `writer` must outlive the wait.
  Wait(SlotWriter& writer, const WaitInfo& info, base::TimePoint deadline = base::TimePoint::max()) noexcept
      : writer_(writer), cell_(writer.begin_wait(info, coarse_now(), deadline)) {}
  ~Wait() { writer_.end_wait(cell_); }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

 private:
  SlotWriter& writer_;
  int cell_;
};

// Blocks until `ready()`, called with `lock` held, returns true, or until the deadline. Returns the last result of
// ready(). If it is true at once, nothing is shown, at no cost.
template <class Ready>
bool wait_until(SlotWriter& writer, const WaitInfo& info, std::unique_lock<std::mutex>& lock,
                std::condition_variable& changed, base::TimePoint deadline, Ready ready) {
  if (ready()) return true;
  const Wait wait(writer, info, deadline);
  if (deadline != base::TimePoint::max()) return changed.wait_until(lock, deadline, ready);
  changed.wait(lock, ready);
  return true;
}

}  // namespace distrun::board
