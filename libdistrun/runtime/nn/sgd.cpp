#include <distrun/runtime/nn/sgd.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/grad_mode.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>

namespace distrun::nn {

SGD::SGD(TensorList parameters, SGDOptions options)
    : parameters_(std::move(parameters)), options_(options), velocities_(parameters_.size()) {
  const auto refuse = [](const std::string& text) { throw Error(ErrorKind::InvalidArgument, "SGD: " + text); };
  if (!(options.learning_rate >= 0)) refuse("the learning rate must not be below 0");
  if (!(options.momentum >= 0 && options.momentum < 1)) refuse("momentum must be at least 0 and below 1");
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].defined() && is_leaf(parameters_[i]) && requires_grad(parameters_[i])) continue;
    refuse("parameter " + std::to_string(i) + " is no leaf that requires a gradient");
  }
}

void SGD::step() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) move(i, grad(parameters_[i]));
}

void SGD::step(const TensorList& gradients) {
  if (gradients.size() != parameters_.size()) {
    throw Error(ErrorKind::InvalidArgument, "SGD: " + std::to_string(gradients.size()) + " gradients for " +
                                                std::to_string(parameters_.size()) + " parameters");
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) move(i, gradients[i]);
}

void SGD::move(std::size_t number, const Tensor& gradient) {
  if (!gradient.defined()) return;
  const NoGradGuard unrecorded;
  Tensor direction = gradient;
  if (options_.momentum > 0 && !gradient.is_sparse()) {
    Tensor& velocity = velocities_[number];
    if (velocity.defined()) {
      mul_(velocity, options_.momentum);
      add_(velocity, gradient);
    } else {
      velocity = clone(gradient);
    }
    direction = velocity;
  }
  add_(parameters_[number], direction, -options_.learning_rate);
}

void SGD::zero_grad() {
  for (const Tensor& parameter : parameters_) set_grad(parameter, Tensor());
}

}  // namespace distrun::nn
