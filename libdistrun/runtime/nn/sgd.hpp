#pragma once
// Stochastic gradient descent, the optimiser of the suites and examples.
#include <distrun/runtime/nn/optimizer.hpp>

namespace distrun::nn {

struct SGDOptions {
  double learning_rate = 1e-3;  // at first
  double momentum = 0;
  double dampening = 0;  // of what a gradient adds to the momentum
  double weight_decay = 0;
  bool nesterov = false;
};

// Sparse gradients move the rows that they have, without momentum; with weight decay they are refused.
class SGD : public Optimizer {
 public:
  // Throws Error{InvalidArgument} for options below 0, and for nesterov without momentum or with dampening.
  SGD(TensorList parameters, SGDOptions options);

 private:
  void check_sparse() const override;
  void move(std::size_t number, const Tensor& gradient) override;
  StateFields state_of(std::size_t number) override;
  Tensor direction(std::size_t number, const Tensor& gradient);

  const SGDOptions options_;
  TensorList velocities_;  // with momentum; undefined before the first step
};

}  // namespace distrun::nn
