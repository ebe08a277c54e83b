#pragma once
// Losses as objects that hold their options. runtime/autograd/operators/losses.hpp documents computations and shapes.
#include <utility>

#include <distrun/runtime/autograd/operators/losses.hpp>

namespace distrun::nn {

// The mean squared difference.
class MSELoss {
 public:
  Tensor operator()(const Tensor& input, const Tensor& target) const;  // distrun::mse_loss()
};

// Takes any numbers per class, and the target class.
class CrossEntropyLoss {
 public:
  explicit CrossEntropyLoss(CrossEntropyOptions options = {}) : options_(std::move(options)) {}  // of each call
  Tensor operator()(const Tensor& logits, const Tensor& target) const;  // distrun::cross_entropy()

 private:
  const CrossEntropyOptions options_;
};

// Is CrossEntropyLoss for logarithms of probabilities, as from LogSoftmax.
class NLLLoss {
 public:
  explicit NLLLoss(NllLossOptions options = {}) : options_(std::move(options)) {}  // of each call
  Tensor operator()(const Tensor& log_probabilities, const Tensor& target) const;  // distrun::nll_loss()

 private:
  const NllLossOptions options_;
};

}  // namespace distrun::nn
