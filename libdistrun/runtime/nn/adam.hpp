#pragma once
// Adam: steps by the running mean of the gradients, measured by that of their squares.
#include <array>
#include <vector>

#include <distrun/runtime/nn/optimizer.hpp>

namespace distrun::nn {

struct AdamOptions {
  double learning_rate = 1e-3;              // at first
  std::array<double, 2> betas{0.9, 0.999};  // what the running means of gradients and of squares keep at each step
  double epsilon = 1e-8;
  double weight_decay = 0;
  bool amsgrad = false;  // measured by the largest mean of squares so far
  // Parameters shrink by a share of their own, learning_rate * weight_decay at each step, and gradients know nothing of
  // it: that is AdamW.
  bool decoupled_weight_decay = false;
};

// Sparse gradients are refused.
class Adam : public Optimizer {
 public:
  // Throws Error{InvalidArgument} for options below 0, and for betas that are not below 1.
  explicit Adam(TensorList parameters, AdamOptions options = {});

 private:
  struct State {
    std::int64_t steps = 0;
    Tensor mean, square_mean;  // of the gradients; undefined before the first step
    Tensor most_square_mean;   // with amsgrad
  };

  void check_sparse() const override;
  void move(std::size_t number, const Tensor& gradient) override;
  StateFields state_of(std::size_t number) override;
  void take(State& state, const Tensor& gradient) const;

  const AdamOptions options_;
  std::vector<State> states_;
};

}  // namespace distrun::nn
