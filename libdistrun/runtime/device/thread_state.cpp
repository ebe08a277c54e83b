#include <distrun/runtime/device/thread_state.hpp>

namespace distrun::device {

ThreadState& thread_state() noexcept {
  thread_local ThreadState state;
  return state;
}

}  // namespace distrun::device
