#pragma once
// A function, constructor or method that a plugin has registered: its name and its parameters. Arguments are checked
// against the parameters before the function runs. The errors have the usual texts:
//
//   no_result() takes 0 positional arguments but 1 was given
//   my_function() missing 2 required positional arguments: 'b' and 'c'
//   my_function() got an unexpected keyword argument 'x'
//   my_function() argument 'a' must be int, not str (incompatible function arguments)
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <distrun/runtime/future/future.hpp>
#include <distrun/runtime/rpc/values/value.hpp>

namespace distrun::rpc {

struct Parameter {
  std::string name;
  std::string type;          // as shown in errors: "int"
  bool is_optional = false;  // a call may omit it; the function then gets none
};

// The arguments of a call: positional ones in order, the others by name.
struct Arguments {
  ValueList positional;
  std::vector<std::pair<std::string, Value>> named;
};

// The value, or a future of it. With a future, the thread can do other work in the meantime.
using Result = std::variant<Value, future::Future<Value>>;

// Where a function runs.
enum class Execution : std::uint8_t {
  Plain,  // on a handler thread, where it may block; its return value is the result
  Async,  // on a handler thread; it returns a future, whose value is the result
  // On the thread that has read the call, between messages. The function must be quick and must take no lock. Calls,
  // collectives, requests to a TCP store and waits for other ranks throw Error{Failed} in it
  // (core/inline_function.hpp).
  Inline,
};

struct Signature {
  std::string name;  // "my_function", "MyClass", "MyClass.my_method"
  std::vector<Parameter> parameters;
};

struct Function {
  Signature signature;
  Execution execution = Execution::Plain;
  // Takes a value for each parameter, in order. Throws what the function throws, and TypeErrors of from_value().
  std::function<Result(const ValueList& arguments)> run;
  // Plain functions only: returns whether a call with these arguments is as quick as an Inline function, and takes no
  // lock that others wait under. Such a call from another worker runs on the thread that reads it. Its result may be a
  // future that is not complete; the thread that completes the future sends the answer. is_quick() runs on the reading
  // thread, with the call current. Empty: the function is never quick.
  std::function<bool(const ValueList& arguments)> is_quick = {};
};

// Returns the values in the order of the parameters. Throws Error{InvalidArgument, "TypeError"}.
ValueList bind_arguments(const Signature& signature, Arguments arguments);
std::string to_string(const Signature& signature);  // "my_function(a: int, b: int)"

}  // namespace distrun::rpc
