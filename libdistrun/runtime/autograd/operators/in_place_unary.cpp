// In-place operators of one tensor, powers and clamps.
#include <distrun/runtime/autograd/operators/elementwise.hpp>
#include <distrun/runtime/autograd/operators/in_place.hpp>
#include <distrun/runtime/autograd/operators/power_formulas.hpp>
#include <distrun/runtime/autograd/operators/unary_formulas.hpp>
#include <distrun/runtime/autograd/scope.hpp>

namespace distrun {
namespace {

using namespace autograd;

// A rule that needs the input gets a copy of the former value of `a`.
template <class Rule, class Operator>
Tensor change(const Tensor& a, Rule rule, Operator run) {
  const auto formula = [&] {
    return UnaryBackward<Rule>{rule, Rule::kOfResult ? SavedTensor() : SavedTensor(former_of(a))};
  };
  return in_place(a, formula, run);
}

}  // namespace

Tensor neg_(const Tensor& a) {
  const OperatorScope scope("neg_", a);
  return in_place(
      a, [] { return NegBackward{}; }, [&] { tensor::neg_(a); });
}

Tensor exp_(const Tensor& a) {
  const OperatorScope scope("exp_", a);
  return change(a, OfExp{}, [&] { tensor::exp_(a); });
}

Tensor tanh_(const Tensor& a) {
  const OperatorScope scope("tanh_", a);
  return change(a, OfTanh{}, [&] { tensor::tanh_(a); });
}

Tensor sigmoid_(const Tensor& a) {
  const OperatorScope scope("sigmoid_", a);
  return change(a, OfSigmoid{}, [&] { tensor::sigmoid_(a); });
}

Tensor sqrt_(const Tensor& a) {
  const OperatorScope scope("sqrt_", a);
  return change(a, OfSqrt{}, [&] { tensor::sqrt_(a); });
}

Tensor abs_(const Tensor& a) {
  const OperatorScope scope("abs_", a);
  return change(a, OfAbs{}, [&] { tensor::abs_(a); });
}

Tensor relu_(const Tensor& a) {
  const OperatorScope scope("relu_", a);
  const OperatorScope within("clamp_min_", a);  // as for relu()
  return change(a, OfRelu{}, [&] { tensor::relu_(a); });
}

Tensor clamp_min_(const Tensor& a, const Scalar& least) {
  const OperatorScope scope("clamp_min_", a);
  return change(a, OfClampMin{{}, least}, [&] { tensor::clamp_min_(a, least); });
}

Tensor clamp_max_(const Tensor& a, const Scalar& largest) {
  const OperatorScope scope("clamp_max_", a);
  return change(a, OfClampMax{{}, largest}, [&] { tensor::clamp_max_(a, largest); });
}

Tensor clamp_(const Tensor& a, const std::optional<Scalar>& least, const std::optional<Scalar>& largest) {
  const OperatorScope scope("clamp_", a);
  return change(a, OfClamp{{}, least, largest}, [&] { tensor::clamp_(a, least, largest); });
}

Tensor pow_(const Tensor& a, const Scalar& b) {
  const OperatorScope scope("pow_", a);
  return change(a, OfPow{{}, b}, [&] { tensor::pow_(a, b); });
}

Tensor pow_(const Tensor& a, const Tensor& b) {
  const OperatorScope scope("pow_", a, b);
  const auto formula = [&] { return PowBackward{SavedTensor(former_of(a)), saved_beside(a, b), {}, requires_grad(b)}; };
  return in_place(
      a, formula, [&] { tensor::pow_(a, b); }, b);
}

}  // namespace distrun
