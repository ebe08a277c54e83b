#pragma once
// Adagrad: scales each element's step by all of its gradients so far.
#include <vector>

#include <distrun/runtime/nn/optimizer.hpp>

namespace distrun::nn {

// Options of Adagrad, with the defaults of torch.optim.
struct AdagradOptions {
  double learning_rate = 1e-2;           // initial value
  double lr_decay = 0;                   // step n uses learning_rate / (1 + (n - 1) lr_decay)
  double weight_decay = 0;               // factor of the parameter that is added to its gradient
  double initial_accumulator_value = 0;  // sum of squares before the first step
  double epsilon = 1e-10;                // is added to the square root of the sum
};

// Sparse gradients move only their entries and these entries' sums; with weight decay they throw.
class Adagrad : public Optimizer {
 public:
  // Throws Error{InvalidArgument} for negative options.
  explicit Adagrad(TensorList parameters, AdagradOptions options = {});

 private:
  struct State {
    std::int64_t steps = 0;
    Tensor square_sum;  // undefined before the first step
  };

  void check_sparse() const override;
  void move(std::size_t number, const Tensor& gradient) override;
  StateFields state_of(std::size_t number) override;
  void move_dense(const Tensor& parameter, const Tensor& sum, const Tensor& gradient, double rate) const;
  void move_sparse(const Tensor& parameter, const Tensor& sum, const Tensor& gradient, double rate) const;
  Tensor measured(const Tensor& gradient, const Tensor& square_sum) const;

  const AdagradOptions options_;
  std::vector<State> states_;
};

}  // namespace distrun::nn
