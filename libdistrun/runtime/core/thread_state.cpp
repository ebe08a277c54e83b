#include <distrun/runtime/core/thread_state.hpp>

#include <distrun/common/base/thread_object.hpp>

namespace distrun::core {

ThreadState& thread_state() noexcept { return base::ThreadObject<ThreadState>::get(); }

}  // namespace distrun::core
