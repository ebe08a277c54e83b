#pragma once
// The recording mode: operators of this thread record what they do, or don't. A part of the thread's state
// (runtime/core/thread_state.hpp).
#include <distrun/runtime/core/thread_state.hpp>

namespace distrun::autograd {

inline bool is_grad_enabled() noexcept { return core::thread_state().grad_enabled; }

// Turns recording on or off for a scope.
class GradModeGuard {
 public:
  explicit GradModeGuard(bool enabled) noexcept : before_(is_grad_enabled()) {
    core::thread_state().grad_enabled = enabled;
  }
  ~GradModeGuard() { core::thread_state().grad_enabled = before_; }
  GradModeGuard(const GradModeGuard&) = delete;
  GradModeGuard& operator=(const GradModeGuard&) = delete;

 private:
  const bool before_;
};

struct NoGradGuard : GradModeGuard {
  NoGradGuard() noexcept : GradModeGuard(false) {}
};
struct EnableGradGuard : GradModeGuard {
  EnableGradGuard() noexcept : GradModeGuard(true) {}
};

}  // namespace distrun::autograd

namespace distrun {
using autograd::EnableGradGuard;
using autograd::is_grad_enabled;
using autograd::NoGradGuard;
}  // namespace distrun
