// Powers with tensors as exponents; unary.cpp has those with a number.
#include <cmath>

#include <distrun/runtime/autograd/operators/elementwise.hpp>
#include <distrun/runtime/autograd/operators/power_formulas.hpp>
#include <distrun/runtime/autograd/scope.hpp>

namespace distrun {
namespace {

using namespace autograd;

// The gradient of n to the power of b: g n^b log(n), and 0 where n is 0 and b is not negative.
struct PowOfNumberBackward {
  static constexpr const char* kName = "PowBackward2";
  Scalar base;
  SavedTensor exponent, result;

  Gradients apply(const Node& node, Gradients gradients) {
    Gradients results(1);
    const Tensor slope = formula::mul(result.unpack(node), std::log(base.to<double>()));
    const bool is_zero = base.to<double>() == 0;
    results[0] = formula::mul(gradients[0], is_zero ? zero_where(tensor::ge(exponent.unpack(node), 0), slope) : slope);
    return results;
  }
  void release() noexcept {
    exponent.release();
    result.release();
  }
};

}  // namespace

Tensor pow(const Tensor& a, const Tensor& b) {
  const OperatorScope scope("pow", a, b);
  Tensor result = tensor::pow(a, b);
  if (!needs_gradient(a, b)) return result;
  PowBackward formula{SavedTensor(a), SavedTensor(b), {}, requires_grad(b)};
  formula.keep_result(result);
  return with_history(std::move(result), record(std::move(formula), a, b));
}

Tensor pow(const Scalar& a, const Tensor& b) {
  const OperatorScope scope("pow", b);
  Tensor result = tensor::pow(a, b);
  if (!needs_gradient(b)) return result;
  PowOfNumberBackward formula{a, SavedTensor(b), SavedTensor::of_result(result)};
  return with_history(std::move(result), record(std::move(formula), b));
}

}  // namespace distrun
