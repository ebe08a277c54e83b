#include <distrun/runtime/device/blocking.hpp>

#include <atomic>

#include <distrun/runtime/device/thread_state.hpp>

namespace distrun::device {
namespace {

std::atomic<WaitBoard*> process_board{nullptr};

}  // namespace

void show_waits_on(WaitBoard* board) noexcept { process_board.store(board, std::memory_order_release); }

WaitBoard* wait_board() noexcept {
  WaitBoard* own = thread_state().board;
  return own != nullptr ? own : process_board.load(std::memory_order_acquire);
}

}  // namespace distrun::device
