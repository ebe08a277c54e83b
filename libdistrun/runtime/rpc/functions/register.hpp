#pragma once
// Registers a plugin's functions for calls by other workers:
//
//   int add_twice(int a, int b) { return a + 2 * b; }
//   DISTRUN_RPC(add_twice)                  // rpc_sync(to, add_twice, 1, 2), rpc_sync<int>(to, "add_twice", 1, 2)
//   DISTRUN_RPC(add_twice, "a", "b")        // and arg("b", 2); a std::optional may be left out
//   DISTRUN_RPC_ASYNC(slow)                 // returns a Future<T>; the caller gets the T
//   DISTRUN_RPC_INLINE(peek)                // quick, takes no lock, makes no call: runs where the call is read, and
//                                           // gets an error for a call, a collective or a wait for other ranks
//
// Use the macros at namespace scope, after the function. Arguments are passed by value or by reference to const. A call
// that passes an object of a registered class always runs on a handler thread, since decoding it runs the class's code.
#include <tuple>
#include <type_traits>
#include <utility>

#include <distrun/runtime/rpc/functions/compile_checks.hpp>
#include <distrun/runtime/rpc/functions/registry.hpp>
#include <distrun/runtime/rpc/values/convert.hpp>

namespace distrun::rpc {

namespace detail {

template <class T>
inline constexpr bool kIsFuture = false;
template <class T>
inline constexpr bool kIsFuture<future::Future<T>> = true;

// "argument 'a' must be int, not str (incompatible function arguments)"
[[noreturn]] void refuse_argument(const Error& why, const std::string& parameter);

template <class T>
std::remove_cvref_t<T> argument_from(const Value& value, const std::string& parameter) {
  try {
    return from_value<std::remove_cvref_t<T>>(value);
  } catch (const Error& why) {
    refuse_argument(why, parameter);
  }
}

template <class T>
future::Future<Value> future_of_value(const future::Future<T>& future) {
  if constexpr (std::is_same_v<T, Value>) {
    return future;
  } else {
    return future.then([](const future::Future<T>& done) {
      if constexpr (std::is_void_v<T>) {
        done.wait();
        return Value();
      } else {
        return to_value(done.wait());
      }
    });
  }
}

// Converts the return value to a result, as that kind of execution requires.
template <Execution execution, class Returned, class Call>
Result result_of(const Call& call) {
  if constexpr (execution == Execution::Async) {
    if constexpr (kIsFuture<Returned>) return future_of_value(call());
  } else if constexpr (std::is_void_v<Returned>) {
    call();
    return Value();
  } else {
    return to_value(call());
  }
}

template <class... Passed>
std::vector<Parameter> parameters_of(const std::vector<std::string>& names) {
  std::vector<Parameter> parameters;
  const std::vector<std::string> types{type_name<std::remove_cvref_t<Passed>>()...};
  const std::vector<bool> are_optional{kIsOptional<std::remove_cvref_t<Passed>>...};
  for (std::size_t i = 0; i < types.size(); ++i) {
    parameters.push_back({i < names.size() ? names[i] : "arg" + std::to_string(i), types[i], are_optional[i]});
  }
  return parameters;
}

// Returns a function that converts the values to `Passed` and calls `callable`.
template <Execution execution, class Returned, class... Passed, class Callable, std::size_t... i>
auto make_run(Callable callable, std::vector<Parameter> parameters, std::index_sequence<i...>) {
  return [callable, parameters = std::move(parameters)]([[maybe_unused]] const ValueList& values) -> Result {
    std::tuple<std::remove_cvref_t<Passed>...> arguments{argument_from<Passed>(values[i], parameters[i].name)...};
    return result_of<execution, Returned>([&]() -> Returned { return std::apply(callable, std::move(arguments)); });
  };
}

// Checks that the function can be registered.
template <Execution execution, class Returned, class... Passed>
consteval bool check_function() {
  constexpr bool kReturnsWell = execution != Execution::Async || kIsFuture<Returned>;
  static_assert(kReturnsWell, "RPC: a function that is DISTRUN_RPC_ASYNC returns a distrun::Future");
  return kReturnsWell && check_parameters<Passed...>();
}

template <Execution execution, class Returned, class... Passed, class Callable>
Function make_function(std::string name, std::vector<std::string> names, Callable callable) {
  std::vector<Parameter> parameters = parameters_of<Passed...>(names);
  auto run = make_run<execution, Returned, Passed...>(callable, parameters, std::index_sequence_for<Passed...>());
  return {{std::move(name), std::move(parameters)}, execution, std::move(run)};
}

}  // namespace detail

// Registers a function while plugins are loaded; `names` are the names of its first parameters.
template <Execution execution = Execution::Plain, class Returned, class... Passed>
bool register_function(const char* name, std::vector<std::string> names, Returned (*function)(Passed...)) {
  if constexpr (detail::check_function<execution, Returned, Passed...>()) {
    add_function(detail::make_function<execution, Returned, Passed...>(name, std::move(names), function),
                 reinterpret_cast<const void*>(function));
  }
  return true;
}
// Rejects everything else at compile time.
template <Execution execution = Execution::Plain, class Callable>
requires(!detail::IsFunction<Callable*>) bool register_function(const char*, std::vector<std::string>, Callable*) {
  return detail::check_callable<Callable>();
}

// Registers a function that checks its arguments and its result at run time.
inline bool register_dynamic(Function function) {
  add_function(std::move(function));
  return true;
}

}  // namespace distrun::rpc

// Used by the macros below.
#define DISTRUN_RPC_REGISTER(execution, function, ...)        \
  [[maybe_unused]] static const bool distrun_rpc_##function = \
      ::distrun::rpc::register_function<::distrun::rpc::Execution::execution>(#function, {__VA_ARGS__}, &function);
// Registers a function under its name; the names of its parameters may follow. Write it once, at namespace scope.
#define DISTRUN_RPC(function, ...) DISTRUN_RPC_REGISTER(Plain, function, __VA_ARGS__)
// Is DISTRUN_RPC for a function that returns a Future<T>; callers get the T when it is done.
#define DISTRUN_RPC_ASYNC(function, ...) DISTRUN_RPC_REGISTER(Async, function, __VA_ARGS__)
// Is DISTRUN_RPC for a quick function that takes no lock and makes no call: it runs on the thread that reads messages.
#define DISTRUN_RPC_INLINE(function, ...) DISTRUN_RPC_REGISTER(Inline, function, __VA_ARGS__)
