#pragma once
// Adam: steps by the running mean of the gradients, scaled by that of their squares.
#include <array>
#include <vector>

#include <distrun/runtime/nn/optimizer.hpp>

namespace distrun::nn {

// Options of Adam, with the defaults of torch.optim.
struct AdamOptions {
  double learning_rate = 1e-3;              // initial value
  std::array<double, 2> betas{0.9, 0.999};  // decay of the running means of gradients and of squares, per step
  double epsilon = 1e-8;                    // is added to the square root of the mean of squares
  double weight_decay = 0;                  // factor of the parameter that is added to its gradient
  bool amsgrad = false;                     // scales by the largest mean of squares so far
  // AdamW: parameters shrink by learning_rate * weight_decay at each step, and gradients do not include the decay.
  bool decoupled_weight_decay = false;
};

// The rule of D. Kingma and J. Ba, "Adam: A Method for Stochastic Optimization", with both means corrected for their
// start at 0. Sparse gradients throw.
class Adam : public Optimizer {
 public:
  // Throws Error{InvalidArgument} for negative options, and for betas of 1 or more.
  explicit Adam(TensorList parameters, AdamOptions options = {});

 private:
  struct State {
    std::int64_t steps = 0;
    Tensor mean, square_mean;  // undefined before the first step
    Tensor most_square_mean;   // with amsgrad only
  };

  void check_sparse() const override;
  void move(std::size_t number, const Tensor& gradient) override;
  StateFields state_of(std::size_t number) override;
  void take(State& state, const Tensor& gradient) const;

  const AdamOptions options_;
  std::vector<State> states_;
};

}  // namespace distrun::nn
