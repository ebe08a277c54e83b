#pragma once
// What can be called: a function, constructor or method that a plugin has registered, by its name, with the parameters
// that it takes. Calls are checked against them before it runs, with the texts that people know:
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
  std::string type;          // as in errors: "int"
  bool is_optional = false;  // a call may leave it out: none stands in its place
};

// What a call passes; values in the order of the call, and others by name.
struct Arguments {
  ValueList positional;
  std::vector<std::pair<std::string, Value>> named;
};

// The value, or a future of it: then the thread goes on with something else meanwhile.
using Result = std::variant<Value, future::Future<Value>>;

// How it is run.
enum class Execution : std::uint8_t {
  Plain,  // on a handler's thread; what it returns is the result. It may block.
  Async,  // so, too; what it returns is a future, whose value is the result
  // On whatever thread has read the call, between messages: it is quick, and takes no lock. Calls, collectives and
  // waits for other ranks throw Error{Failed} there (core/inline_function.hpp).
  Inline,
};

struct Signature {
  std::string name;  // "my_function", "MyClass", "MyClass.my_method"
  std::vector<Parameter> parameters;
};

struct Function {
  Signature signature;
  Execution execution = Execution::Plain;
  // With a value for every parameter, in their order. Throws what the author's code throws, and TypeErrors of
  // from_value().
  std::function<Result(const ValueList& arguments)> run;
  // Of a plain one: whether a call with these arguments is as quick as an Inline function, and takes no lock under
  // which others wait. It is run where it is read, then, if another worker has made it, and its result may be a future
  // that is not done yet: whoever completes it answers. Asked on that thread, with the call current. None: it is not
  // quick.
  std::function<bool(const ValueList& arguments)> is_quick = {};
};

// In the order of the parameters. Throws Error{InvalidArgument, "TypeError"}.
ValueList bind_arguments(const Signature& signature, Arguments arguments);
std::string to_string(const Signature& signature);  // "my_function(a: int, b: int)"

}  // namespace distrun::rpc
