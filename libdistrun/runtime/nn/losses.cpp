#include <distrun/runtime/nn/losses.hpp>

#include <distrun/runtime/autograd/operators/all.hpp>

namespace distrun::nn {

Tensor MSELoss::operator()(const Tensor& input, const Tensor& target) const { return mse_loss(input, target); }

Tensor CrossEntropyLoss::operator()(const Tensor& logits, const Tensor& target) const {
  return cross_entropy(logits, target, options_);
}

Tensor NLLLoss::operator()(const Tensor& log_probabilities, const Tensor& target) const {
  return nll_loss(log_probabilities, target, options_);
}

}  // namespace distrun::nn
