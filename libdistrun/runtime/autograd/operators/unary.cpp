#include <distrun/runtime/autograd/operators/elementwise.hpp>
#include <distrun/runtime/autograd/operators/unary_formulas.hpp>
#include <distrun/runtime/autograd/scope.hpp>

namespace distrun {
namespace {

using namespace autograd;

// Records a result with the tensor that the rule needs.
template <class Rule>
Tensor by_rule(Tensor result, const Tensor& a, Rule rule) {
  if (!needs_gradient(a)) return result;
  SavedTensor kept = Rule::kOfResult ? SavedTensor::of_result(result) : SavedTensor(a);
  auto node = record(UnaryBackward<Rule>{rule, std::move(kept)}, a);
  return with_history(std::move(result), std::move(node));
}

}  // namespace

Tensor neg(const Tensor& a) {
  const OperatorScope scope("neg", a);
  Tensor result = tensor::neg(a);
  return needs_gradient(a) ? with_history(std::move(result), record(NegBackward{}, a)) : result;
}

Tensor cos(const Tensor& a) {
  const OperatorScope scope("cos", a);
  return by_rule(tensor::cos(a), a, OfCos{});
}

Tensor sin(const Tensor& a) {
  const OperatorScope scope("sin", a);
  return by_rule(tensor::sin(a), a, OfSin{});
}

Tensor sigmoid(const Tensor& a) {
  const OperatorScope scope("sigmoid", a);
  return by_rule(tensor::sigmoid(a), a, OfSigmoid{});
}

Tensor tanh(const Tensor& a) {
  const OperatorScope scope("tanh", a);
  return by_rule(tensor::tanh(a), a, OfTanh{});
}

Tensor exp(const Tensor& a) {
  const OperatorScope scope("exp", a);
  return by_rule(tensor::exp(a), a, OfExp{});
}

Tensor log(const Tensor& a) {
  const OperatorScope scope("log", a);
  return by_rule(tensor::log(a), a, OfLog{});
}

Tensor sqrt(const Tensor& a) {
  const OperatorScope scope("sqrt", a);
  return by_rule(tensor::sqrt(a), a, OfSqrt{});
}

Tensor rsqrt(const Tensor& a) {
  const OperatorScope scope("rsqrt", a);
  return by_rule(tensor::rsqrt(a), a, OfRsqrt{});
}

Tensor reciprocal(const Tensor& a) {
  const OperatorScope scope("reciprocal", a);
  return by_rule(tensor::reciprocal(a), a, OfReciprocal{});
}

Tensor abs(const Tensor& a) {
  const OperatorScope scope("abs", a);
  return by_rule(tensor::abs(a), a, OfAbs{});
}

Tensor relu(const Tensor& a) {
  const OperatorScope scope("relu", a);
  const OperatorScope within("clamp_min", a);  // relu appears as clamp_min, as usual
  return by_rule(tensor::relu(a), a, OfRelu{});
}

Tensor clamp_min(const Tensor& a, const Scalar& least) {
  const OperatorScope scope("clamp_min", a);
  return by_rule(tensor::clamp_min(a, least), a, OfClampMin{{}, least});
}

Tensor clamp_max(const Tensor& a, const Scalar& largest) {
  const OperatorScope scope("clamp_max", a);
  return by_rule(tensor::clamp_max(a, largest), a, OfClampMax{{}, largest});
}

Tensor clamp(const Tensor& a, const std::optional<Scalar>& least, const std::optional<Scalar>& largest) {
  const OperatorScope scope("clamp", a);
  return by_rule(tensor::clamp(a, least, largest), a, OfClamp{{}, least, largest});
}

Tensor pow(const Tensor& a, const Scalar& b) {
  const OperatorScope scope("pow", a);
  return by_rule(tensor::pow(a, b), a, OfPow{{}, b});
}

Tensor square(const Tensor& a) {
  const OperatorScope scope("square", a);
  return by_rule(tensor::square(a), a, OfPow{{}, 2});
}

}  // namespace distrun
