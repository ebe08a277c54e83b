#include <distrun/runtime/core/thread_state.hpp>

namespace distrun::core {

ThreadState& thread_state() noexcept {
  thread_local ThreadState state;
  return state;
}

}  // namespace distrun::core
