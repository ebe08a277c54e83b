#pragma once
// Gradients of softmax and log_softmax; cross_entropy uses the latter.
#include <distrun/runtime/autograd/operators/formula_operators.hpp>
#include <distrun/runtime/tensor/operators/softmax.hpp>

namespace distrun::autograd {

struct SoftmaxBackward {
  static constexpr const char* kName = "SoftmaxBackward0";
  SavedTensor result;
  std::int64_t dim;

  Gradients apply(const Node& node, Gradients gradients) {
    gradients[0] = of(gradients[0], result.unpack(node));
    return gradients;
  }
  void release() noexcept { result.release(); }

 private:
  Tensor of(const Tensor& gradient, const Tensor& shares) const {
    if (!is_grad_enabled()) return tensor::softmax_gradient(gradient, shares, dim);
    const Tensor sums = formula::sum(formula::mul(gradient, shares), Dims{dim}, true);
    return formula::mul(shares, formula::sub(gradient, sums));
  }
};

struct LogSoftmaxBackward {
  static constexpr const char* kName = "LogSoftmaxBackward0";
  SavedTensor result;
  std::int64_t dim;

  Gradients apply(const Node& node, Gradients gradients) {
    gradients[0] = of(gradients[0], result.unpack(node), dim);
    return gradients;
  }
  void release() noexcept { result.release(); }

  static Tensor of(const Tensor& gradient, const Tensor& logarithms, std::int64_t dim) {
    if (!is_grad_enabled()) return tensor::log_softmax_gradient(gradient, logarithms, dim);
    const Tensor sums = formula::sum(gradient, Dims{dim}, true);
    return formula::sub(gradient, formula::mul(formula::exp(logarithms), sums));
  }
};

}  // namespace distrun::autograd
