#pragma once
// Calls in the traces of ranks (runtime/core/tracing.hpp): where they are made, where quick ones are run, and where
// their answers are taken in. Handlers are there as what the board shows. Both sides name the caller's number of the
// call and each other, so that whoever reads the traces can put them together.
#include <distrun/runtime/core/tracing.hpp>
#include <distrun/runtime/rpc/calls/call_context.hpp>
#include <distrun/runtime/rpc/calls/pending_calls.hpp>

namespace distrun::rpc {

// From `began` (core::trace_now()) to the end of the scope.
class TracedCall {
 public:
  TracedCall(const PendingCall& call, base::Location site, std::int64_t began) noexcept;

 private:
  core::TraceSlice slice_;
};

// For a scope in which its answer is taken in.
class TracedReply {
 public:
  explicit TracedReply(const PendingCall& call) noexcept;

 private:
  core::TraceSlice slice_;
};

// One that has begun then, and is over. `name` is its function's.
void trace_quick_call(const CallContext& call, const char* name, std::int64_t began) noexcept;

}  // namespace distrun::rpc
