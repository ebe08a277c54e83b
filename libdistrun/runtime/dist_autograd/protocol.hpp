#pragma once
// The functions that workers call on each other for distributed autograd. Their first arguments are context and pass.
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/dist_autograd/message_nodes.hpp>
#include <distrun/runtime/dist_autograd/mode.hpp>
#include <distrun/runtime/rpc/calls/calls.hpp>

namespace distrun::dist_autograd {

inline constexpr const char* kMark = "distrun.autograd.mark";        // which messages sent by the callee take part
inline constexpr const char* kFeed = "distrun.autograd.backward";    // gradients of one of them
inline constexpr const char* kAbort = "distrun.autograd.abort";      // the pass has failed elsewhere
inline constexpr const char* kRelease = "distrun.autograd.release";  // the context's opener has released it
inline constexpr const char* kBegin = "distrun.autograd.begin";      // a pass with the value of a reference as root

// The settings that all parts of a pass share.
struct PassSettings {
  bool retain_graph = false;
  Mode mode = Mode::Smart;
};

// Returns an error thrown on another worker as it is reported: "Error on Node 2: ...".
inline Error on_node(WorkerId worker, const Error& error) {
  Error told(error.kind(), error.type(), "Error on Node " + std::to_string(worker) + ": " + error.text());
  return told.with_cause(error.because_of());
}

// Repeats the call until it is answered; does not wait.
void tell_released(rpc::Calls& calls, WorkerId to, ContextId context) noexcept;

}  // namespace distrun::dist_autograd
