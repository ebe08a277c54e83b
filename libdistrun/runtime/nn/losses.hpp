#pragma once
// How far results are from what they should be, as objects that keep their options. What is computed, and of what
// shapes: runtime/autograd/operators/losses.hpp.
#include <utility>

#include <distrun/runtime/autograd/operators/losses.hpp>

namespace distrun::nn {

// The mean of the squares of the differences.
class MSELoss {
 public:
  Tensor operator()(const Tensor& input, const Tensor& target) const;
};

// Of any numbers for each class, and the class that it should be.
class CrossEntropyLoss {
 public:
  explicit CrossEntropyLoss(CrossEntropyOptions options = {}) : options_(std::move(options)) {}
  Tensor operator()(const Tensor& logits, const Tensor& target) const;

 private:
  const CrossEntropyOptions options_;
};

// The same of logarithms of probabilities, as LogSoftmax makes them.
class NLLLoss {
 public:
  explicit NLLLoss(NllLossOptions options = {}) : options_(std::move(options)) {}
  Tensor operator()(const Tensor& log_probabilities, const Tensor& target) const;

 private:
  const NllLossOptions options_;
};

}  // namespace distrun::nn
