#include <distrun/runtime/nn/adam.hpp>

#include <cmath>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>

namespace distrun::nn {
namespace {

void move_mean(const Tensor& mean, const Tensor& value, double kept) {
  use_on_current_stream(mean);
  tensor::mul_(mean, kept);
  tensor::add_(mean, value, 1 - kept);
}

}  // namespace

Adam::Adam(TensorList parameters, AdamOptions options)
    : Optimizer("Adam", std::move(parameters), options.learning_rate),
      options_(options),
      states_(this->parameters().size()) {
  const auto [first, second] = options.betas;
  check_option(options.epsilon >= 0, "epsilon value", options.epsilon);
  check_option(first >= 0 && first < 1, "beta parameter at index 0", first);
  check_option(second >= 0 && second < 1, "beta parameter at index 1", second);
  check_option(options.weight_decay >= 0, "weight_decay value", options.weight_decay);
}

void Adam::check_sparse() const { throw Error(ErrorKind::InvalidArgument, "Adam does not support sparse gradients"); }

Optimizer::StateFields Adam::state_of(std::size_t number) {
  State& state = states_[number];
  StateFields fields{{"step", &state.steps}, {"exp_avg", &state.mean}, {"exp_avg_sq", &state.square_mean}};
  if (options_.amsgrad) fields.push_back({"max_exp_avg_sq", &state.most_square_mean});
  return fields;
}

void Adam::take(State& state, const Tensor& gradient) const {
  if (!state.mean.defined()) {
    state.mean = tensor::zeros_like(gradient);
    state.square_mean = tensor::zeros_like(gradient);
    if (options_.amsgrad) state.most_square_mean = tensor::zeros_like(gradient);
  }
  move_mean(state.mean, gradient, options_.betas[0]);
  move_mean(state.square_mean, tensor::mul(gradient, gradient), options_.betas[1]);
  if (!options_.amsgrad) return;
  use_on_current_stream(state.most_square_mean);
  state.most_square_mean = tensor::maximum(state.most_square_mean, state.square_mean);
}

// The means started at zero, so they are divided by the total weight of the gradients in them.
void Adam::move(std::size_t number, const Tensor& gradient) {
  State& state = states_[number];
  const Tensor& parameter = parameters()[number];
  if (options_.decoupled_weight_decay) {
    tensor::mul_(parameter, 1 - learning_rate() * options_.weight_decay);
    take(state, gradient);
  } else {
    take(state, decayed(gradient, parameter, options_.weight_decay));
  }
  const auto steps = static_cast<double>(++state.steps);
  const double share = 1 - std::pow(options_.betas[0], steps);
  const double square_share = 1 - std::pow(options_.betas[1], steps);
  const Tensor measure = tensor::sqrt(options_.amsgrad ? state.most_square_mean : state.square_mean);
  tensor::div_(measure, std::sqrt(square_share));
  tensor::add_(measure, options_.epsilon);
  tensor::add_(parameter, tensor::div(state.mean, measure), -learning_rate() / share);
}

}  // namespace distrun::nn
