#include <distrun/runtime/autograd/operators/arithmetic_formulas.hpp>
#include <distrun/runtime/autograd/operators/copies.hpp>
#include <distrun/runtime/autograd/operators/elementwise.hpp>
#include <distrun/runtime/autograd/operators/in_place.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

namespace distrun {
namespace {

using namespace autograd;

// The former elements are overwritten: their gradient is zero. A source tensor gets the whole gradient.
struct OverwriteBackward {
  const char* kind;
  const char* name() const { return kind; }

  Gradients apply(const Node& node, Gradients gradients) {
    Gradients results(node.next_edges().size());
    if (node.needs(0)) results[0] = tensor::zeros_like(gradients[0]);
    if (node.needs(1)) results[1] = std::move(gradients[0]);
    return results;
  }
};

// Saves the present value of `a`, for the gradient of the other: the change is about to overwrite it.
SavedTensor former(const Tensor& a, const Tensor& other) {
  return requires_grad(other) ? SavedTensor(former_of(a)) : SavedTensor();
}
SavedTensor other_for(const Tensor& a, const Tensor& other) {
  if (!requires_grad(a)) return SavedTensor();
  return saved_beside(a, other);
}

}  // namespace

// One line for each operator.
// clang-format off
Tensor add_(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  const OperatorScope scope("add_", a, b);
  return in_place(a, [&] { return AddBackward{alpha}; }, [&] { tensor::add_(a, b, alpha); }, b);
}

Tensor add_(const Tensor& a, const Scalar& b, const Scalar& alpha) {
  const OperatorScope scope("add_", a);
  return in_place(a, [] { return AddBackward{1}; }, [&] { tensor::add_(a, b, alpha); });
}

Tensor sub_(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  const OperatorScope scope("sub_", a, b);
  return in_place(a, [&] { return SubBackward{alpha}; }, [&] { tensor::sub_(a, b, alpha); }, b);
}

Tensor sub_(const Tensor& a, const Scalar& b, const Scalar& alpha) {
  const OperatorScope scope("sub_", a);
  return in_place(a, [] { return SubBackward{1}; }, [&] { tensor::sub_(a, b, alpha); });
}

Tensor mul_(const Tensor& a, const Tensor& b) {
  const OperatorScope scope("mul_", a, b);
  const auto formula = [&] { return MulBackward{former(a, b), other_for(a, b)}; };
  return in_place(a, formula, [&] { tensor::mul_(a, b); }, b);
}

Tensor mul_(const Tensor& a, const Scalar& b) {
  const OperatorScope scope("mul_", a);
  return in_place(a, [&] { return MulScalarBackward{b}; }, [&] { tensor::mul_(a, b); });
}

Tensor div_(const Tensor& a, const Tensor& b) {
  const OperatorScope scope("div_", a, b);
  const auto formula = [&] { return DivBackward{former(a, b), saved_beside(a, b)}; };
  return in_place(a, formula, [&] { tensor::div_(a, b); }, b);
}

Tensor div_(const Tensor& a, const Scalar& b) {
  const OperatorScope scope("div_", a);
  return in_place(a, [&] { return DivScalarBackward{b}; }, [&] { tensor::div_(a, b); });
}

Tensor fill_(const Tensor& a, const Scalar& value) {
  const OperatorScope scope("fill_", a);
  return in_place(a, [] { return OverwriteBackward{"FillBackward0"}; }, [&] { tensor::fill_(a, value); });
}

Tensor zero_(const Tensor& a) {
  const OperatorScope scope("zero_", a);
  return in_place(a, [] { return OverwriteBackward{"ZeroBackward0"}; }, [&] { tensor::zero_(a); });
}

Tensor copy_(const Tensor& out, const Tensor& from, bool non_blocking) {
  const OperatorScope scope("copy_", out, from);
  const auto formula = [] { return OverwriteBackward{"torch::autograd::CopyBackwards"}; };
  return in_place(out, formula, [&] { tensor::copy_(out, from, non_blocking); }, from);
}
// clang-format on

}  // namespace distrun
