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

// The operators of operator_table.hpp for GraphValues, in the namespace where the compiler finds those for Tensors.
namespace distrun {

// clang-format off
#define DISTRUN_TRACED_OPERATORS(apply)                                                                   \
  apply(add) apply(sub) apply(rsub) apply(mul) apply(div) apply(add_) apply(sub_) apply(mul_) apply(div_) \
  apply(fill_) apply(zero_)                                                                               \
  apply(neg) apply(cos) apply(sin) apply(sigmoid) apply(relu) apply(clamp_min)                            \
  apply(exp) apply(log) apply(tanh) apply(sqrt) apply(rsqrt) apply(reciprocal) apply(abs) apply(square)   \
  apply(pow) apply(clamp_max) apply(clamp) apply(maximum) apply(minimum) apply(where) apply(dropout)      \
  apply(neg_) apply(exp_) apply(tanh_) apply(sigmoid_) apply(sqrt_) apply(abs_) apply(relu_) apply(pow_)  \
  apply(clamp_min_) apply(clamp_max_) apply(clamp_) apply(logical_not) apply(logical_and)                 \
  apply(logical_or) apply(logical_xor) apply(isnan) apply(isinf) apply(isfinite)                          \
  apply(eq) apply(ne) apply(lt) apply(le) apply(gt) apply(ge)                                             \
  apply(mm) apply(bmm) apply(matmul) apply(multi_dot) apply(linear) apply(softmax) apply(batch_norm)      \
  apply(log_softmax) apply(layer_norm) apply(cross_entropy) apply(nll_loss) apply(mse_loss)               \
  apply(sum) apply(mean) apply(prod) apply(cumsum) apply(var) apply(norm) apply(all) apply(any)           \
  apply(max) apply(min) apply(amax) apply(amin) apply(argmax) apply(argmin) apply(equal) apply(nonzero)   \
  apply(gather) apply(scatter_add) apply(scatter_add_) apply(index_select) apply(index_add)               \
  apply(index_add_) apply(masked_fill) apply(masked_select) apply(one_hot)                                \
  apply(view) apply(reshape) apply(flatten) apply(expand) apply(transpose) apply(t) apply(permute)        \
  apply(unsqueeze) apply(squeeze) apply(narrow) apply(select) apply(split) apply(cat) apply(stack)        \
  apply(ones_like) apply(zeros_like) apply(clone) apply(contiguous) apply(copy_) apply(to) apply(cpu)     \
  apply(cuda)                                                                                             \
  apply(sparse_coo) apply(coalesce) apply(to_dense)
// clang-format on
#define DISTRUN_TRACED_OPERATOR(name)                                                           \
  template <class... Operands>                                                                  \
  requires rpc::detail::Traced<Operands...> rpc::GraphValue name(const Operands&... operands) { \
    return rpc::detail::record_operator(#name, {rpc::detail::operand(operands)...});            \
  }
DISTRUN_TRACED_OPERATORS(DISTRUN_TRACED_OPERATOR)
#undef DISTRUN_TRACED_OPERATOR

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
