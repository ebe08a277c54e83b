#include <distrun/runtime/autograd/operators/arithmetic_formulas.hpp>
#include <distrun/runtime/autograd/operators/elementwise.hpp>
#include <distrun/runtime/autograd/scope.hpp>

namespace distrun {
namespace {

using namespace autograd;

struct RsubBackward {
  static constexpr const char* kName = "RsubBackward1";

  Gradients apply(const Node&, Gradients gradients) {
    Gradients results(1);
    results[0] = formula::neg(gradients[0]);
    return results;
  }
};

// The gradient of n / b: - g (n / b) / b.
struct RdivBackward {
  static constexpr const char* kName = "DivBackward0";
  Scalar dividend;
  SavedTensor b;

  Gradients apply(const Node& node, Gradients gradients) {
    Gradients results(1);
    const Tensor divisor = b.unpack(node);
    const Tensor quotient = formula::rdiv(dividend, divisor);
    results[0] = formula::neg(formula::div(formula::mul(gradients[0], quotient), divisor));
    return results;
  }
  void release() noexcept { b.release(); }
};

SavedTensor saved_if(bool wanted, const Tensor& tensor) { return wanted ? SavedTensor(tensor) : SavedTensor(); }

}  // namespace

Tensor add(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  const OperatorScope scope("add", a, b);
  Tensor result = tensor::add(a, b, alpha);
  return needs_gradient(a, b) ? with_history(std::move(result), record(AddBackward{alpha}, a, b)) : result;
}

Tensor add(const Tensor& a, const Scalar& b, const Scalar& alpha) {
  const OperatorScope scope("add", a);
  Tensor result = tensor::add(a, b, alpha);
  return needs_gradient(a) ? with_history(std::move(result), record(AddBackward{1}, a)) : result;
}

Tensor sub(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  const OperatorScope scope("sub", a, b);
  Tensor result = tensor::sub(a, b, alpha);
  return needs_gradient(a, b) ? with_history(std::move(result), record(SubBackward{alpha}, a, b)) : result;
}

Tensor sub(const Tensor& a, const Scalar& b, const Scalar& alpha) {
  const OperatorScope scope("sub", a);
  Tensor result = tensor::sub(a, b, alpha);
  return needs_gradient(a) ? with_history(std::move(result), record(SubBackward{1}, a)) : result;
}

Tensor rsub(const Scalar& a, const Tensor& b) {
  const OperatorScope scope("rsub", b);
  Tensor result = tensor::rsub(a, b);
  return needs_gradient(b) ? with_history(std::move(result), record(RsubBackward{}, b)) : result;
}

Tensor mul(const Tensor& a, const Tensor& b) {
  const OperatorScope scope("mul", a, b);
  Tensor result = tensor::mul(a, b);
  if (!needs_gradient(a, b)) return result;
  MulBackward formula{saved_if(requires_grad(b), a), saved_if(requires_grad(a), b)};
  return with_history(std::move(result), record(std::move(formula), a, b));
}

Tensor mul(const Tensor& a, const Scalar& b) {
  const OperatorScope scope("mul", a);
  Tensor result = tensor::mul(a, b);
  return needs_gradient(a) ? with_history(std::move(result), record(MulScalarBackward{b}, a)) : result;
}

Tensor div(const Tensor& a, const Tensor& b) {
  const OperatorScope scope("div", a, b);
  Tensor result = tensor::div(a, b);
  if (!needs_gradient(a, b)) return result;
  DivBackward formula{saved_if(requires_grad(b), a), SavedTensor(b)};
  return with_history(std::move(result), record(std::move(formula), a, b));
}

Tensor div(const Tensor& a, const Scalar& b) {
  const OperatorScope scope("div", a);
  Tensor result = tensor::div(a, b);
  return needs_gradient(a) ? with_history(std::move(result), record(DivScalarBackward{b}, a)) : result;
}

Tensor rdiv(const Scalar& a, const Tensor& b) {
  const OperatorScope scope("rdiv", b);
  Tensor result = tensor::rdiv(a, b);
  return needs_gradient(b) ? with_history(std::move(result), record(RdivBackward{a, SavedTensor(b)}, b)) : result;
}

}  // namespace distrun
