#pragma once
// The recording mode: operators of this thread record what they do, or don't. A part of the thread's state
// (runtime/core/thread_state.hpp).
#include <distrun/runtime/core/thread_state.hpp>

namespace distrun::autograd {

// Returns whether operators of the calling thread are recorded; initially they are.
inline bool is_grad_enabled() noexcept { return core::thread_state().grad_enabled; }

// Turns recording on or off for a scope.
class GradModeGuard {
 public:
  // The destructor restores the former mode. Create and destroy it on one thread.
  explicit GradModeGuard(bool enabled) noexcept : before_(is_grad_enabled()) {
    core::thread_state().grad_enabled = enabled;
  }
  ~GradModeGuard() { core::thread_state().grad_enabled = before_; }
  GradModeGuard(const GradModeGuard&) = delete;
  GradModeGuard& operator=(const GradModeGuard&) = delete;

 private:
  const bool before_;
};

// Turns recording off for a scope.
struct NoGradGuard : GradModeGuard {
  NoGradGuard() noexcept : GradModeGuard(false) {}
};
// Turns recording on for a scope, within one of NoGradGuard.
struct EnableGradGuard : GradModeGuard {
  EnableGradGuard() noexcept : GradModeGuard(true) {}
};

}  // namespace distrun::autograd

namespace distrun {
using autograd::EnableGradGuard;
using autograd::is_grad_enabled;
using autograd::NoGradGuard;
}  // namespace distrun
