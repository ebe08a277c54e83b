#pragma once
// How the runtime waits: seen. Whatever blocks a thread here (a stream, an event, a thread that waits in the engine)
// is a Wait for as long as it lasts, and a rank shows it on its board, so that a hang can be explained. Without a rank
// it just waits.
#include <condition_variable>
#include <mutex>

#include <distrun/common/board/slot_writer.hpp>

namespace distrun::device {

// Where waits are shown. Any thread; neither call blocks or allocates.
class WaitBoard {
 public:
  virtual ~WaitBoard() = default;
  // The number of the shown wait, for end_wait().
  virtual int begin_wait(const board::WaitInfo& info) noexcept = 0;
  virtual void end_wait(int number) noexcept = 0;
};

// For all threads of the process that have none of their own in their ThreadState, as ranks that are threads have.
// `board` lives until the process ends.
void show_waits_on(WaitBoard* board) noexcept;
// The calling thread's; null: waits are not shown.
WaitBoard* wait_board() noexcept;

// Shows a wait of the calling thread from construction to destruction.
class Wait {
 public:
  explicit Wait(const board::WaitInfo& info) noexcept
      : board_(wait_board()), number_(board_ != nullptr ? board_->begin_wait(info) : -1) {}
  ~Wait() {
    if (board_ != nullptr) board_->end_wait(number_);
  }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

 private:
  WaitBoard* board_;
  int number_;
};

// Blocks until `ready()`, which is called with `lock` held. Nothing is shown, and nothing paid, if it is ready at once.
template <class Ready>
void wait_until(const board::WaitInfo& info, std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                Ready ready) {
  if (ready()) return;
  const Wait wait(info);
  changed.wait(lock, ready);
}

}  // namespace distrun::device
