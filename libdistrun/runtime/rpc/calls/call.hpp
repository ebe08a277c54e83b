#pragma once
// Calling a function of another worker, or of one's own:
//
//   rpc_sync(to, f, a, b)         waits, and returns what f returned there
//   rpc_async(to, f, a, b)        a Future of that
//
// `f` is a function that is registered with DISTRUN_RPC: then arguments and result are checked when this is compiled;
// or a name, a bound() method or a graph function: then where it is called, the result is a Value, and arguments may
// be given by name, arg("b", 2).
//
// Errors, thrown by rpc_sync, and by the future of rpc_async:
//
//   what f threw               of the same kind, type and text; where() and remote_trace() tell of its place there
//   Error{Timeout}             "RPC ran for more than set timeout (100 ms) ...", and what the other worker did last
//   Error{Disconnected}        the other worker is gone, or left
//   Error{Overloaded}          too much is on its way to it
//
// and thrown by both at once: Error{InvalidArgument} for a worker or arguments that can't be; Error{Failed} if RPC has
// not been initialized.
#include <distrun/runtime/rpc/calls/call_request.hpp>
#include <distrun/runtime/rpc/calls/result_type.hpp>

namespace distrun::rpc {

// The untyped ones, which the others are made of.
std::shared_ptr<future::FutureState> call_async(CallRequest request, const ResultType& type);
inline future::Future<Value> call_async(CallRequest request) {
  return future::Future<Value>::of(call_async(std::move(request), kResultOf<Value>));
}
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

// What a caller gets of a function that returns T.
template <class T>
struct Gets {
  using Type = T;
};
template <class T>
struct Gets<future::Future<T>> {
  using Type = T;
};

}  // namespace detail

// By name, or whatever else target_of() takes: rpc_sync<int>(to, "add_twice", 1, 2).
template <class T = Value, class Callable, class... Passed>
requires requires(Callable&& callable) { target_of(std::forward<Callable>(callable)); }
T rpc_sync(const Destination& to, Callable&& callable, Passed&&... passed) {
  return from_value<T>(
      call_sync(detail::make_request(to, std::forward<Callable>(callable), std::forward<Passed>(passed)...)));
}
template <class T = Value, class Callable, class... Passed>
requires requires(Callable&& callable) { target_of(std::forward<Callable>(callable)); }
future::Future<T> rpc_async(const Destination& to, Callable&& callable, Passed&&... passed) {
  return future::Future<T>::of(call_async(
      detail::make_request(to, std::forward<Callable>(callable), std::forward<Passed>(passed)...), kResultOf<T>));
}

// A function of C++.
template <class Returned, class... Parameters, class... Passed>
typename detail::Gets<Returned>::Type rpc_sync(const Destination& to, Returned (*function)(Parameters...),
                                               Passed&&... passed) {
  static_assert(sizeof...(Parameters) == sizeof...(Passed), "the function takes another number of arguments");
  static_assert((std::is_convertible_v<Passed&&, std::remove_cvref_t<Parameters>> && ...),
                "the function takes arguments of other types");
  return rpc_sync<typename detail::Gets<Returned>::Type>(
      to, name_of_function(reinterpret_cast<const void*>(function)),
      static_cast<std::remove_cvref_t<Parameters>>(std::forward<Passed>(passed))...);
}
template <class Returned, class... Parameters, class... Passed>
future::Future<typename detail::Gets<Returned>::Type> rpc_async(const Destination& to,
                                                                Returned (*function)(Parameters...),
                                                                Passed&&... passed) {
  static_assert(sizeof...(Parameters) == sizeof...(Passed), "the function takes another number of arguments");
  static_assert((std::is_convertible_v<Passed&&, std::remove_cvref_t<Parameters>> && ...),
                "the function takes arguments of other types");
  return rpc_async<typename detail::Gets<Returned>::Type>(
      to, name_of_function(reinterpret_cast<const void*>(function)),
      static_cast<std::remove_cvref_t<Parameters>>(std::forward<Passed>(passed))...);
}

// As future.then(f), of a function or operator that is known by its name: it is called here, with the future as its
// first argument, and `more`. What is wrong with that becomes the error of the child.
future::Future<Value> then_call(const future::AnyFuture& future, const std::string& name, ValueList more = {});

}  // namespace distrun::rpc
