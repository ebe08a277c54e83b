#pragma once
// Calls of functions on another worker, or on this one:
//
//   rpc_sync(to, f, a, b)         waits, and returns f's result
//   rpc_async(to, f, a, b)        returns a Future of it
//
// `f` is a function registered with DISTRUN_RPC: then arguments and result are checked at compile time. Or it is a
// name, a bound() method or a graph function: then they are checked on the callee, the result is a Value, and arguments
// may be given by name, arg("b", 2).
//
// Errors, thrown by rpc_sync and by the future of rpc_async:
//
//   the error of f             of the same kind, type and text; where() and remote_trace() give its origin there
//   Error{Timeout}             "RPC ran for more than set timeout (100 ms) ...", and what the other worker was doing
//   Error{Disconnected}        the other worker is gone, or has left
//   Error{Overloaded}          too much data is in flight to it
//
// Both throw at once: Error{InvalidArgument} for an invalid worker or arguments; Error{Failed} without RPC.
#include <distrun/runtime/rpc/calls/call_request.hpp>
#include <distrun/runtime/rpc/calls/result_type.hpp>
#include <distrun/runtime/rpc/functions/compile_checks.hpp>

namespace distrun::rpc {

// Begins an untyped call, on which the other functions are built.
std::shared_ptr<future::FutureState> call_async(CallRequest request, const ResultType& type);
inline future::Future<Value> call_async(CallRequest request) {
  return future::Future<Value>::of(call_async(std::move(request), kResultOf<Value>));
}
// Makes an untyped call and waits for its result.
Value call_sync(CallRequest request);

namespace detail {

inline void add_argument(Arguments& arguments, NamedArgument argument) {
  arguments.named.emplace_back(std::move(argument.name), std::move(argument.value));
}
template <class T>
void add_argument(Arguments& arguments, T&& argument) {
  arguments.positional.push_back(to_value(std::forward<T>(argument)));
}

template <class Callable, class... Passed>
CallRequest make_request(const Destination& to, Callable&& callable, Passed&&... passed) {
  CallRequest request{to, target_of(std::forward<Callable>(callable)), {}};
  request.arguments.positional.reserve(request.target.before.size() + sizeof...(Passed));
  for (Value& each : request.target.before) request.arguments.positional.push_back(std::move(each));
  (add_argument(request.arguments, std::forward<Passed>(passed)), ...);
  return request;
}

template <class T>
struct GetsOf {
  using Type = T;
};
template <class T>
struct GetsOf<future::Future<T>> {
  using Type = T;
};
// The type that a caller gets from a function that returns T.
template <class T>
using Gets = GetsOf<std::remove_cvref_t<T>>;

// A type that target_of() accepts.
template <class T>
concept IsTarget = requires(T&& callable) {
  target_of(std::forward<T>(callable));
};
// A type that cannot be called; using it is a compile-time error.
template <class T>
concept IsNoCallable = !IsTarget<T> && !IsFunction<T>;

}  // namespace detail

// Calls a function by name, or anything else that target_of() accepts, and waits: rpc_sync<int>(to, "add_twice", 1, 2).
// Returns the result as a T; throws Error{InvalidArgument, "TypeError"} if it is none. For other errors see the top of
// this header.
template <class T = Value, detail::IsTarget Callable, class... Passed>
T rpc_sync(const Destination& to, Callable&& callable, Passed&&... passed) {
  return from_value<T>(
      call_sync(detail::make_request(to, std::forward<Callable>(callable), std::forward<Passed>(passed)...)));
}
// Is rpc_sync() without waiting: the future has the result or the error.
template <class T = Value, detail::IsTarget Callable, class... Passed>
future::Future<T> rpc_async(const Destination& to, Callable&& callable, Passed&&... passed) {
  return future::Future<T>::of(call_async(
      detail::make_request(to, std::forward<Callable>(callable), std::forward<Passed>(passed)...), kResultOf<T>));
}

// Calls a registered C++ function and waits. Arguments are converted to its parameters here.
template <class Returned, class... Parameters, class... Passed>
typename detail::Gets<Returned>::Type rpc_sync(const Destination& to, Returned (*function)(Parameters...),
                                               Passed&&... passed) {
  using Got = typename detail::Gets<Returned>::Type;
  if constexpr (detail::check_call(detail::Types<Parameters...>(), detail::Types<Passed&&...>())) {
    return rpc_sync<Got>(to, name_of_function(reinterpret_cast<const void*>(function)),
                         static_cast<std::remove_cvref_t<Parameters>>(std::forward<Passed>(passed))...);
  } else {
    return detail::refused<Got>();
  }
}
// Is rpc_sync() without waiting: the future has the result or the error.
template <class Returned, class... Parameters, class... Passed>
future::Future<typename detail::Gets<Returned>::Type> rpc_async(const Destination& to,
                                                                Returned (*function)(Parameters...),
                                                                Passed&&... passed) {
  using Got = typename detail::Gets<Returned>::Type;
  if constexpr (detail::check_call(detail::Types<Parameters...>(), detail::Types<Passed&&...>())) {
    return rpc_async<Got>(to, name_of_function(reinterpret_cast<const void*>(function)),
                          static_cast<std::remove_cvref_t<Parameters>>(std::forward<Passed>(passed))...);
  } else {
    return detail::refused<future::Future<Got>>();
  }
}
// These are for everything else, and fail to compile as soon as the return type is deduced: compile_checks.hpp explains
// why.
template <class T = detail::Anything, detail::IsNoCallable Callable, class... Passed>
auto rpc_sync(const Destination&, Callable&&, Passed&&...) {
  detail::check_callable<Callable>();
  return detail::refused<T>();
}
template <class T = Value, detail::IsNoCallable Callable, class... Passed>
auto rpc_async(const Destination&, Callable&&, Passed&&...) {
  detail::check_callable<Callable>();
  return detail::refused<future::Future<T>>();
}

// Like future.then(f) for a named function or operator. It is called on this worker, with the future as its first
// argument, followed by `more`. Errors are stored in the returned future.
future::Future<Value> then_call(const future::AnyFuture& future, const std::string& name, ValueList more = {});

}  // namespace distrun::rpc
