#pragma once
// Anomaly mode: finds the operator behind a gradient that is NaN, or behind a backward pass that fails. While it is on,
// each node remembers the calls that created it, and every result of a node is checked, which costs more than much of
// the work itself. The mode is a part of the thread's state; passes that are started under it check, too.
#include <string>

#include <distrun/runtime/autograd/node.hpp>
#include <distrun/runtime/core/thread_state.hpp>

namespace distrun::autograd {

// Returns whether the calling thread is in anomaly mode; initially not.
inline bool is_anomaly_mode() noexcept { return core::thread_state().anomaly_checked; }

// Sets the mode for a scope.
class AnomalyGuard {
 public:
  // The destructor restores the former mode. Create and destroy it on one thread.
  explicit AnomalyGuard(bool checked = true) noexcept : before_(is_anomaly_mode()) {
    core::thread_state().anomaly_checked = checked;
  }
  ~AnomalyGuard() { core::thread_state().anomaly_checked = before_; }
  AnomalyGuard(const AnomalyGuard&) = delete;
  AnomalyGuard& operator=(const AnomalyGuard&) = delete;

 private:
  const bool before_;
};

// Names what the code in this scope does, for error messages: "layer 3 of rank 0". Nodes that are created in the scope
// keep the name while anomaly mode is on. `name` must outlive the scope.
class ForwardName {
 public:
  // The destructor restores the former name.
  explicit ForwardName(const char* name) noexcept;
  ~ForwardName();
  ForwardName(const ForwardName&) = delete;
  ForwardName& operator=(const ForwardName&) = delete;

 private:
  const char* const before_;
};

// Returns the current ForwardName and the calls that led here.
ForwardSite forward_site();

// Throws Error{Failed} if a defined result holds a NaN; the error names the result, the node, and the place of its
// forward call.
void check_for_nan(const Node& node, const Gradients& results);

// Returns "The forward call of MulBackward0 was made at:" and a line for each of the user's calls, or how to get them.
std::string forward_text(const Node& node);
// Returns "MulBackward0 (made in layer 3 of rank 0 at model.cpp:41)"; parts that are unknown are left out.
std::string name_with_site(const Node& node);

}  // namespace distrun::autograd

namespace distrun {
using autograd::AnomalyGuard;
}  // namespace distrun
