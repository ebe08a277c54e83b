#pragma once
// The target of a call: an operator or a function by name, a method of an object that is sent along, or a graph
// function (graph/graph.hpp).
#include <memory>
#include <string>
#include <variant>

#include <distrun/runtime/rpc/functions/registry.hpp>
#include <distrun/runtime/rpc/values/convert.hpp>

namespace distrun::rpc {

class GraphFunction;  // graph/graph.hpp

// A method of `object`: bound(my_object, "my_method").
struct BoundMethod {
  Value object;
  std::string method;
};
template <class T>
BoundMethod bound(const T& object, std::string method) {
  return {to_value(object), std::move(method)};
}

// A named argument: arg("b", 2).
struct NamedArgument {
  std::string name;
  Value value;
};
template <class T>
NamedArgument arg(std::string name, T&& value) {
  return {std::move(name), to_value(std::forward<T>(value))};
}

// A name refers to a function that is registered at the callee, else to an operator.
using Callee = std::variant<std::string, std::shared_ptr<const GraphFunction>>;

// A callee, and the arguments that precede the caller's.
struct Target {
  Callee callee;
  ValueList before;
};
Target target_of(std::string name);
Target target_of(const char* name);
Target target_of(FunctionName name);
Target target_of(BoundMethod method);
Target target_of(std::shared_ptr<const GraphFunction> graph);

}  // namespace distrun::rpc
