#pragma once
// Calls in the traces of ranks (runtime/core/tracing.hpp): where they are made, where quick ones run, and where their
// answers are decoded. Handlers appear as shown on the board. Both sides record the caller's number of the call and
// each other's rank, so that traces can be matched.
#include <distrun/runtime/core/tracing.hpp>
#include <distrun/runtime/rpc/calls/call_context.hpp>
#include <distrun/runtime/rpc/calls/pending_calls.hpp>

namespace distrun::rpc {

// Traces from `began` (core::trace_now()) to the end of the scope.
class TracedCall {
 public:
  TracedCall(const PendingCall& call, base::Location site, std::int64_t began) noexcept;

 private:
  core::TraceSlice slice_;
};

// Traces the decoding of an answer, within a scope.
class TracedReply {
 public:
  explicit TracedReply(const PendingCall& call) noexcept;

 private:
  core::TraceSlice slice_;
};

// Traces a call that began at `began` and has just ended. `name`: its function.
void trace_quick_call(const CallContext& call, const char* name, std::int64_t began) noexcept;

}  // namespace distrun::rpc
