#pragma once
// Builds graph functions by tracing C++ code that computes with tensors:
//
//   const auto step = [](auto x, auto weight) {
//     auto hidden = distrun::relu(distrun::mm(x, weight));
//     for (int i = 1; i <= 3; ++i) distrun::mul_(hidden, i);
//     return hidden + 1;
//   };
//   const std::shared_ptr<const rpc::GraphFunction> traced = rpc::trace("step", {"x", "weight"}, step);
//   rpc::rpc_sync<Tensor>("worker1", traced, x, weight);  // what step(x, weight) computes here
//
// The code runs once, with a GraphValue for each parameter; operations on GraphValues become the function. C++ loops
// are unrolled; anything computed without a parameter is a constant. Tracing needs no example inputs and depends on
// none: a GraphValue has no bool, so code that branches on a value does not compile. For branches and loops inside the
// function use GraphBuilder's branch() and for_each().
//
// Generic code calls operators with the prefix distrun::, as usual. embedding_bag takes its tensors in a struct, and
// factories (ones, rand) take no tensors; add these with GraphBuilder::op().
#include <tuple>

#include <distrun/runtime/rpc/graph/builder.hpp>
#include <distrun/runtime/tensor/operators/convolution.hpp>
#include <distrun/runtime/tensor/operators/pooling.hpp>

namespace distrun::rpc {
namespace detail {

template <class T>
inline constexpr bool kIsTraced = std::is_same_v<std::remove_cvref_t<T>, GraphValue> ||
                                  std::is_same_v<std::remove_cvref_t<T>, std::vector<GraphValue>>;
template <class... Operands>
concept Traced = (kIsTraced<Operands> || ...);

// Adds the operator to the function that the first GraphValue among the operands belongs to.
GraphValue record_operator(const std::string& name, const std::vector<GraphOperand>& operands);
// An empty list is a constant.
GraphOperand list_operand(const std::vector<GraphValue>& items);

template <class T>
GraphOperand operand(T&& argument) {
  using Argument = std::remove_cvref_t<T>;
  if constexpr (std::is_same_v<Argument, std::vector<GraphValue>>) {
    return list_operand(argument);
  } else if constexpr (std::is_same_v<Argument, Dims>) {
    return std::vector<std::int64_t>(argument.begin(), argument.end());
  } else if constexpr (std::is_same_v<Argument, Tensor>) {
    return argument.defined() ? GraphOperand(argument) : GraphOperand(Value());  // an optional operand
  } else {
    return GraphOperand(std::forward<T>(argument));
  }
}

template <class Result>
GraphOperand result_operand(GraphBuilder& builder, Result&& result) {
  if constexpr (kIsTuple<std::remove_cvref_t<Result>>) {
    return std::apply([&](const auto&... each) { return builder.tuple(operand(each)...); }, result);
  } else {
    return operand(std::forward<Result>(result));
  }
}

}  // namespace detail

// `code` takes a GraphValue for each parameter and returns a GraphValue, a vector, tuple or pair of them, a constant,
// or nothing. Throws what GraphBuilder and `code` throw.
template <std::size_t count, class Code>
GraphBuilder::Function trace(std::string name, const std::string (&parameters)[count], Code&& code) {
  GraphBuilder builder(std::move(name));
  std::vector<GraphValue> values;
  for (const std::string& parameter : parameters) values.push_back(builder.parameter(parameter));
  const auto run = [&]<std::size_t... index>(std::index_sequence<index...>) { return code(values[index]...); };
  constexpr std::make_index_sequence<count> each;
  if constexpr (std::is_void_v<decltype(run(each))>) {
    run(each);
    return builder.returns();
  } else {
    return builder.returns(detail::result_operand(builder, run(each)));
  }
}

}  // namespace distrun::rpc

// The operators of the table for GraphValues, in the namespace where the compiler finds those for Tensors.
namespace distrun {

#define DISTRUN_OPERATOR(name, ...)                                                             \
  template <class... Operands>                                                                  \
  requires rpc::detail::Traced<Operands...> rpc::GraphValue name(const Operands&... operands) { \
    return rpc::detail::record_operator(#name, {rpc::detail::operand(operands)...});            \
  }
#define DISTRUN_OPERATOR_BY_NAME(name, why, ...)
#include <distrun/runtime/autograd/operators/operator_entries.inc>
#undef DISTRUN_OPERATOR
#undef DISTRUN_OPERATOR_BY_NAME

// Adds distrun::conv2d() to the function that is traced.
template <class Input, class Weight, class Bias = Tensor>
requires rpc::detail::Traced<Input, Weight, Bias> rpc::GraphValue conv2d(const Input& input, const Weight& weight,
                                                                         const Bias& bias = {},
                                                                         const tensor::Conv2dOptions& options = {}) {
  using rpc::detail::operand;
  return rpc::detail::record_operator(
      "conv2d", {operand(input), operand(weight), operand(bias), options.stride.numbers(), options.padding.numbers()});
}
// Adds distrun::max_pool2d() to the function that is traced.
inline rpc::GraphValue max_pool2d(const rpc::GraphValue& input, const tensor::Pool2dOptions& options = {}) {
  return rpc::detail::record_operator(
      "max_pool2d", {input, options.window.numbers(), options.stride.numbers(), options.padding.numbers()});
}

}  // namespace distrun
