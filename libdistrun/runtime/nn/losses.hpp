#pragma once
// Losses as objects that hold their options. runtime/autograd/operators/losses.hpp documents computations and shapes.
#include <utility>

#include <distrun/runtime/autograd/operators/losses.hpp>

namespace distrun::nn {

// The mean squared difference.
class MSELoss {
 public:
  Tensor operator()(const Tensor& input, const Tensor& target) const;
};

// Takes any numbers per class, and the target class.
class CrossEntropyLoss {
 public:
  explicit CrossEntropyLoss(CrossEntropyOptions options = {}) : options_(std::move(options)) {}
  Tensor operator()(const Tensor& logits, const Tensor& target) const;

 private:
  const CrossEntropyOptions options_;
};

// The same for logarithms of probabilities, as from LogSoftmax.
class NLLLoss {
 public:
  explicit NLLLoss(NllLossOptions options = {}) : options_(std::move(options)) {}
  Tensor operator()(const Tensor& log_probabilities, const Tensor& target) const;

 private:
  const NllLossOptions options_;
};

}  // namespace distrun::nn
