#pragma once
// Activation functions as modules without parameters.
#include <distrun/runtime/nn/module.hpp>

namespace distrun::nn {

// max(x, 0). Keeps sizes and dtype.
class ReLU final : public Module {
 public:
  Tensor forward(const Tensor& input) override;
};

// The hyperbolic tangent. Keeps sizes and dtype.
class Tanh final : public Module {
 public:
  Tensor forward(const Tensor& input) override;
};

// 1 / (1 + exp(-x)). Keeps sizes and dtype.
class Sigmoid final : public Module {
 public:
  Tensor forward(const Tensor& input) override;
};

// exp(x), divided by its sum along `dim`, so that each line sums to 1.
class Softmax final : public Module {
 public:
  explicit Softmax(std::int64_t dim) : dim_(dim) {}  // -1: the last
  Tensor forward(const Tensor& input) override;

 private:
  const std::int64_t dim_;
};

// The logarithm of Softmax, which stays exact where the softmax is nearly 0.
class LogSoftmax final : public Module {
 public:
  explicit LogSoftmax(std::int64_t dim) : dim_(dim) {}  // -1: the last
  Tensor forward(const Tensor& input) override;

 private:
  const std::int64_t dim_;
};

// In training sets each element to 0 with probability `p` and scales the others by 1 / (1 - p); otherwise returns the
// input. Uses the default generator.
class Dropout final : public Module {
 public:
  // Throws Error{InvalidArgument, "ValueError"} unless `p` is in [0, 1].
  explicit Dropout(double p = 0.5);
  Tensor forward(const Tensor& input) override;

 private:
  const double p_;
};

}  // namespace distrun::nn
