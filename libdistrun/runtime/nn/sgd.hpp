#pragma once
// Stochastic gradient descent, the optimizer of the suites and examples.
#include <distrun/runtime/nn/optimizer.hpp>

namespace distrun::nn {

// Options of SGD, with the defaults of torch.optim. With momentum m and dampening d a step computes v = m v + (1 - d)
// g, with v = g in the first, and moves the parameter by -learning_rate v.
struct SGDOptions {
  double learning_rate = 1e-3;  // initial value
  double momentum = 0;          // 0: none
  double dampening = 0;         // of a gradient's contribution to the momentum
  double weight_decay = 0;      // factor of the parameter that is added to its gradient
  bool nesterov = false;        // moves by g + m v instead of v
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
