#include <distrun/runtime/autograd/operators/elementwise.hpp>
#include <distrun/runtime/autograd/operators/formula_operators.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/operators/choices.hpp>
#include <distrun/runtime/tensor/operators/dropout.hpp>

namespace distrun {
namespace {

using namespace autograd;

// Has an edge for each of the two that is a tensor.
struct WhereBackward {
  static constexpr const char* kName = "WhereBackward0";
  SavedTensor condition;
  bool is_first_a_tensor = true;

  Gradients apply(const Node& node, Gradients gradients) {
    Gradients results(node.next_edges().size());
    const Tensor mask = condition.unpack(node);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!node.needs(i)) continue;
      const bool is_first = i == 0 && is_first_a_tensor;
      results[i] = is_first ? formula::where(mask, gradients[0], 0) : formula::where(mask, 0, gradients[0]);
    }
    return results;
  }
  void release() noexcept { condition.release(); }
};

// The gradient of maximum() and minimum().
struct ExtremeBackward {
  const char* kind;
  Tensor (*gradient)(const Tensor& gradient, const Tensor& a, const Tensor& b);
  SavedTensor a, b;

  const char* name() const { return kind; }
  Gradients apply(const Node& node, Gradients gradients) {
    Gradients results(2);
    const Tensor first = a.unpack(node), second = b.unpack(node);
    const auto of = [this, &gradients](const Tensor& one, const Tensor& other) {
      return formula::with_slopes(gradients[0], [&](const Tensor& g) { return gradient(g, one, other); });
    };
    if (node.needs(0)) results[0] = of(first, second);
    if (node.needs(1)) results[1] = of(second, first);
    return results;
  }
  void release() noexcept {
    a.release();
    b.release();
  }
};

struct DropoutBackward {
  static constexpr const char* kName = "DropoutBackward0";
  SavedTensor kept;
  double factor;

  Gradients apply(const Node& node, Gradients gradients) {
    const auto run = [factor = factor](const Tensor& x, const Tensor& mask) {
      return tensor::keep_scaled(mask, x, factor);
    };
    gradients[0] = linear_map(kName, gradients[0], run, run, kept.unpack(node));
    return gradients;
  }
  void release() noexcept { kept.release(); }
};

void check_dropout(const Tensor& tensor, double p) {
  tensor::check_defined("dropout", {&tensor});
  if (!(p >= 0 && p <= 1)) {
    tensor::refuse("dropout", "p is the probability to drop an element, from 0 to 1, and not " + to_string(Scalar(p)),
                   {&tensor});
  }
  tensor::check_floating("dropout", tensor);
}

}  // namespace

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  const OperatorScope scope("where", condition, a, b);
  Tensor result = tensor::where(condition, a, b);
  if (!needs_gradient(a, b)) return result;
  return with_history(std::move(result), record(WhereBackward{SavedTensor(condition)}, a, b));
}

Tensor where(const Tensor& condition, const Tensor& a, const Scalar& b) {
  const OperatorScope scope("where", condition, a);
  Tensor result = tensor::where(condition, a, b);
  if (!needs_gradient(a)) return result;
  return with_history(std::move(result), record(WhereBackward{SavedTensor(condition)}, a));
}

Tensor where(const Tensor& condition, const Scalar& a, const Tensor& b) {
  const OperatorScope scope("where", condition, b);
  Tensor result = tensor::where(condition, a, b);
  if (!needs_gradient(b)) return result;
  return with_history(std::move(result), record(WhereBackward{SavedTensor(condition), false}, b));
}

Tensor where(const Tensor& condition, const Scalar& a, const Scalar& b) {
  const OperatorScope scope("where", condition);
  return tensor::where(condition, a, b);
}

Tensor maximum(const Tensor& a, const Tensor& b) {
  const OperatorScope scope("maximum", a, b);
  Tensor result = tensor::maximum(a, b);
  if (!needs_gradient(a, b)) return result;
  ExtremeBackward formula{"MaximumBackward0", &tensor::maximum_backward, SavedTensor(a), SavedTensor(b)};
  return with_history(std::move(result), record(std::move(formula), a, b));
}

Tensor minimum(const Tensor& a, const Tensor& b) {
  const OperatorScope scope("minimum", a, b);
  Tensor result = tensor::minimum(a, b);
  if (!needs_gradient(a, b)) return result;
  ExtremeBackward formula{"MinimumBackward0", &tensor::minimum_backward, SavedTensor(a), SavedTensor(b)};
  return with_history(std::move(result), record(std::move(formula), a, b));
}

Tensor dropout(const Tensor& tensor, double p, bool training) {
  const OperatorScope scope("dropout", tensor);
  check_dropout(tensor, p);
  if (!training || p == 0) return tensor;
  const double factor = p == 1 ? 0 : 1 / (1 - p);
  const Tensor kept = tensor::dropout_mask(tensor.sizes(), p, tensor.device());
  Tensor result = tensor::keep_scaled(kept, tensor, factor);
  if (!needs_gradient(tensor)) return result;
  return with_history(std::move(result), record(DropoutBackward{SavedTensor(kept), factor}, tensor));
}

}  // namespace distrun
