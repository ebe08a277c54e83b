#pragma once
// Builds graph functions, in C++ that reads like them:
//
//   rpc::GraphBuilder g("heavy_rpc");
//   const auto t = g.parameter("tensor");
//   g.for_each(1, 100, [&](rpc::GraphValue i) {
//     g.op("mul_", t, i);
//     g.op("div_", t, i + 1);
//   });
//   const std::shared_ptr<const rpc::GraphFunction> heavy = g.returns(0);
//
//   rpc::rpc_sync<int>("worker1", heavy, tensor);
//
// The C++ code runs once, when the function is built; its operations on GraphValues become the function. trace.hpp
// builds a function from C++ code that computes with tensors.
//
// Mistakes throw Error{InvalidArgument} at once: an unknown operator (AttributeError), a value of another function or
// of a closed block, an assignment to a constant. Beyond the limits of graph.hpp: Error{Overloaded}. Not thread-safe.
#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <distrun/runtime/rpc/graph/graph.hpp>
#include <distrun/runtime/rpc/values/convert.hpp>

namespace distrun::rpc {

namespace detail {
class GraphDraft;
}

// Stands for a value of the function under construction. A copy refers to the same value. The operators + - * / % and
// the comparisons work on plain numbers as in Python (`/` of two ints is a float), and on tensors with the tensor
// operators; `+` also concatenates strings, lists and tuples.
class GraphValue {
 public:
  // Created by GraphBuilder.
  GraphValue(std::shared_ptr<detail::GraphDraft> draft, std::size_t place) : draft_(std::move(draft)), place_(place) {}

  // These are the functions of a Tensor, which the value must be when the function runs.
  GraphValue size(std::int64_t dim) const;
  GraphValue numel() const;
  GraphValue item() const;

 private:
  friend class detail::GraphDraft;
  std::shared_ptr<detail::GraphDraft> draft_;
  std::size_t place_;
};

// An operand: a value of the function, or a constant (numbers, strings, CPU tensors, none as std::monostate(), and
// vectors, tuples and maps of these). Tensors are copied.
class GraphOperand {
 public:
  // A value of the function.
  GraphOperand(GraphValue value) : held_(std::move(value)) {}
  // A constant.
  template <class T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, GraphValue> && !std::is_same_v<std::remove_cvref_t<T>, GraphOperand>)
      GraphOperand(T&& constant)
      : held_(to_value(std::forward<T>(constant))) {}

 private:
  friend class detail::GraphDraft;
  std::variant<GraphValue, Value> held_;
};

// Builds one function; see the top of this header. Not thread-safe.
class GraphBuilder {
 public:
  using Body = std::function<void()>;                     // adds to the builder
  using LoopBody = std::function<void(GraphValue i)>;     // adds to the builder; `i` is the loop's number
  using Function = std::shared_ptr<const GraphFunction>;  // immutable; may be called by any thread

  // `name` appears in errors and profiles; 1 to 255 bytes.
  explicit GraphBuilder(std::string name);

  // Adds a parameter; call it in the order of the parameters.
  GraphValue parameter(std::string name);
  // Returns a constant as a value of the function.
  GraphValue constant(GraphOperand value);
  // Copies the value into a variable for assign(). Parameters and results of nodes can be assigned to as well.
  GraphValue variable(GraphOperand value);
  // Sets a variable, for the operations that follow, also after the current block.
  void assign(const GraphValue& variable, GraphOperand value);

  // Adds an operator on tensors by its name (autograd/operators/operator_table.hpp).
  template <class... Operands>
  GraphValue op(const std::string& name, Operands&&... operands) {
    return add_operator(name, {GraphOperand(std::forward<Operands>(operands))...});
  }
  // Adds a call of another function, which becomes a part of this one.
  template <class... Operands>
  GraphValue call(const Function& function, Operands&&... operands) {
    return add_call(function, {GraphOperand(std::forward<Operands>(operands))...});
  }

  // Loops from begin up to, but not including, end. All bounds are evaluated before the loop.
  void for_each(GraphOperand begin, GraphOperand end, const LoopBody& body);
  void for_each(GraphOperand begin, GraphOperand end, GraphOperand step, const LoopBody& body);
  // True are: true, nonzero numbers, nonzero one-element tensors, and non-empty strings, lists, tuples and maps.
  void branch(GraphOperand condition, const Body& then, const Body& otherwise = {});

  // Returns a list of the operands.
  template <class... Operands>
  GraphValue list(Operands&&... operands) {
    return add(graph::NodeKind::List, {GraphOperand(std::forward<Operands>(operands))...});
  }
  // Returns a tuple of the operands.
  template <class... Operands>
  GraphValue tuple(Operands&&... operands) {
    return add(graph::NodeKind::Tuple, {GraphOperand(std::forward<Operands>(operands))...});
  }
  // Returns a map of keys and values, in this order.
  GraphValue map(const std::vector<std::pair<GraphOperand, GraphOperand>>& entries);
  // Returns an item of a list or a tuple (negative: from the back) or of a map, or a row of a tensor.
  GraphValue item(GraphOperand container, GraphOperand key);
  // Returns the length of a list, tuple, map or string, or the first size of a tensor.
  GraphValue size(GraphOperand container);
  // Returns left / right rounded down, as Python's `//` does.
  GraphValue floor_div(GraphOperand left, GraphOperand right);

  // Ends the function with an Error of that type and text at the caller.
  void raise(GraphOperand text, std::string type = "RuntimeError");
  // Returns from the function within a block.
  void return_now(GraphOperand value);

  // Finishes the function; the builder cannot be used afterwards. returns() without a value returns none.
  Function returns(GraphOperand value);
  Function returns();

 private:
  GraphValue add_operator(const std::string& name, std::vector<GraphOperand> operands);
  GraphValue add_call(const Function& function, std::vector<GraphOperand> operands);
  GraphValue add(graph::NodeKind kind, std::vector<GraphOperand> operands);

  std::shared_ptr<detail::GraphDraft> draft_;
};

namespace detail {
GraphValue calculate(graph::Arithmetic operation, std::vector<GraphOperand> operands);

template <class Left, class Right>
concept GraphOperands = std::is_same_v<Left, GraphValue> || std::is_same_v<Right, GraphValue>;
}  // namespace detail

// The operators that GraphValue's comment names.
#define DISTRUN_GRAPH_OPERATOR(symbol, operation)                                                                \
  template <class Left, class Right>                                                                             \
  requires detail::GraphOperands<Left, Right> GraphValue operator symbol(const Left& left, const Right& right) { \
    return detail::calculate(graph::Arithmetic::operation, {GraphOperand(left), GraphOperand(right)});           \
  }
DISTRUN_GRAPH_OPERATOR(+, Add)
DISTRUN_GRAPH_OPERATOR(-, Sub)
DISTRUN_GRAPH_OPERATOR(*, Mul)
DISTRUN_GRAPH_OPERATOR(/, Div)
DISTRUN_GRAPH_OPERATOR(%, Mod)
DISTRUN_GRAPH_OPERATOR(==, Eq)
DISTRUN_GRAPH_OPERATOR(!=, Ne)
DISTRUN_GRAPH_OPERATOR(<, Lt)
DISTRUN_GRAPH_OPERATOR(<=, Le)
DISTRUN_GRAPH_OPERATOR(>, Gt)
DISTRUN_GRAPH_OPERATOR(>=, Ge)
#undef DISTRUN_GRAPH_OPERATOR
// These negate a number or a tensor, and a truth value.
inline GraphValue operator-(const GraphValue& value) { return detail::calculate(graph::Arithmetic::Neg, {value}); }
inline GraphValue operator!(const GraphValue& value) { return detail::calculate(graph::Arithmetic::Not, {value}); }

}  // namespace distrun::rpc
