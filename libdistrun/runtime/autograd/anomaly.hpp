#pragma once
// Anomaly mode: finds the operator behind a gradient that is not a number, or behind a backward pass that fails. While
// it is on, each node remembers the calls that made it, and every result of a node is looked at, which costs more than
// much of the work itself. It is a part of the thread's state, and passes begun under it look, too.
#include <string>

#include <distrun/runtime/autograd/node.hpp>
#include <distrun/runtime/core/thread_state.hpp>

namespace distrun::autograd {

inline bool is_anomaly_mode() noexcept { return core::thread_state().anomaly_checked; }

// For a scope.
class AnomalyGuard {
 public:
  explicit AnomalyGuard(bool checked = true) noexcept : before_(is_anomaly_mode()) {
    core::thread_state().anomaly_checked = checked;
  }
  ~AnomalyGuard() { core::thread_state().anomaly_checked = before_; }
  AnomalyGuard(const AnomalyGuard&) = delete;
  AnomalyGuard& operator=(const AnomalyGuard&) = delete;

 private:
  const bool before_;
};

// Names what the code from here on does, for that text and for people: "layer 3 of rank 0". Kept by the nodes made
// in the scope while anomaly mode is on. `name` must outlive the scope.
class ForwardName {
 public:
  explicit ForwardName(const char* name) noexcept;
  ~ForwardName();
  ForwardName(const ForwardName&) = delete;
  ForwardName& operator=(const ForwardName&) = delete;

 private:
  const char* const before_;
};

// The name that is in force, and the calls that led here.
ForwardSite forward_site();

// Throws Error{Failed} if a defined result holds a NaN: which one, of which node, and where its forward call was.
void check_for_nan(const Node& node, const Gradients& results);

// "The forward call of MulBackward0 was made at:" and a line for each of the user's calls; or how to get them.
std::string forward_text(const Node& node);
// "MulBackward0 (made in layer 3 of rank 0 at model.cpp:41)", without what is not known.
std::string name_with_site(const Node& node);

}  // namespace distrun::autograd

namespace distrun {
using autograd::AnomalyGuard;
}  // namespace distrun
