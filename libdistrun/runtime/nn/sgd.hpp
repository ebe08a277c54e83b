#pragma once
// Stochastic gradient descent, the optimizer of the suites and examples.
#include <distrun/runtime/nn/optimizer.hpp>

namespace distrun::nn {

struct SGDOptions {
  double learning_rate = 1e-3;  // initial value
  double momentum = 0;
  double dampening = 0;  // of a gradient's contribution to the momentum
  double weight_decay = 0;
  bool nesterov = false;
};

// Sparse gradients move only their rows, without momentum; with weight decay they throw.
class SGD : public Optimizer {
 public:
  // Throws Error{InvalidArgument} for negative options, and for nesterov without momentum or with dampening.
  SGD(TensorList parameters, SGDOptions options);

 private:
  void check_sparse() const override;
  void move(std::size_t number, const Tensor& gradient) override;
  StateFields state_of(std::size_t number) override;
  Tensor direction(std::size_t number, const Tensor& gradient);

  const SGDOptions options_;
  TensorList velocities_;  // with momentum only; undefined before the first step
};

}  // namespace distrun::nn
