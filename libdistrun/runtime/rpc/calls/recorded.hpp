#pragma once
// A call as its caller's profile shows it: "rpc_sync#f(worker0 -> worker1)", from when it is made until its future is
// done.
#include <string>
#include <string_view>

#include <distrun/runtime/profiler/span.hpp>
#include <distrun/runtime/rpc/calls/call_request.hpp>
#include <distrun/runtime/rpc/calls/result_type.hpp>

namespace distrun::rpc {

std::string event_name(CallMode mode, std::string_view callee, std::string_view from, std::string_view to);

// A future of that type that is done when `of_value` is, and the span has ended: who has waited for it finds the event.
std::shared_ptr<future::FutureState> recorded(const future::Future<Value>& of_value, const ResultType& type,
                                              profiler::Span span, base::Location site);

}  // namespace distrun::rpc
