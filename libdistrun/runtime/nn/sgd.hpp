#pragma once
// Stochastic gradient descent, the optimiser of the suites and examples.
#include <vector>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::nn {

struct SGDOptions {
  double learning_rate = 0.01;
  double momentum = 0;
};

// One thread at a time.
class SGD {
 public:
  // Leaves that need a gradient. Throws Error{InvalidArgument} for others, and for a rate below 0 or a momentum
  // outside [0, 1).
  SGD(TensorList parameters, SGDOptions options);

  // Moves each parameter against its gradient, grad(); those without one stay. Sparse gradients move the rows that they
  // have, without momentum. Nothing is recorded.
  void step();
  // The same with gradients from elsewhere, one for each parameter: those of distributed autograd.
  void step(const TensorList& gradients);
  void zero_grad();

 private:
  void move(std::size_t number, const Tensor& gradient);

  const TensorList parameters_;
  const SGDOptions options_;
  TensorList velocities_;  // with momentum; undefined before the first step
};

}  // namespace distrun::nn
