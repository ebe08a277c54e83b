#pragma once
// Functions between layers as modules: they have no parameters.
#include <distrun/runtime/nn/module.hpp>

namespace distrun::nn {

class ReLU final : public Module {
 public:
  Tensor forward(const Tensor& input) override;
};

class Tanh final : public Module {
 public:
  Tensor forward(const Tensor& input) override;
};

class Sigmoid final : public Module {
 public:
  Tensor forward(const Tensor& input) override;
};

// Each line along `dim` sums up to 1.
class Softmax final : public Module {
 public:
  explicit Softmax(std::int64_t dim) : dim_(dim) {}
  Tensor forward(const Tensor& input) override;

 private:
  const std::int64_t dim_;
};

// The logarithm of it, which stays exact where that is nearly 0.
class LogSoftmax final : public Module {
 public:
  explicit LogSoftmax(std::int64_t dim) : dim_(dim) {}
  Tensor forward(const Tensor& input) override;

 private:
  const std::int64_t dim_;
};

// In training each element is 0 with the probability `p`, and the others are 1 / (1 - p) times themselves; else all
// stay as they are. Drawn from the default generator.
class Dropout final : public Module {
 public:
  // Throws Error{InvalidArgument, "ValueError"} unless `p` is in [0, 1].
  explicit Dropout(double p = 0.5);
  Tensor forward(const Tensor& input) override;

 private:
  const double p_;
};

}  // namespace distrun::nn
