#include <distrun/runtime/nn/sgd.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>

namespace distrun::nn {

SGD::SGD(TensorList parameters, SGDOptions options)
    : Optimizer("SGD", std::move(parameters), options.learning_rate),
      options_(options),
      velocities_(this->parameters().size()) {
  check_option(options.momentum >= 0, "momentum value", options.momentum);
  check_option(options.weight_decay >= 0, "weight_decay value", options.weight_decay);
  if (options.nesterov && (options.momentum == 0 || options.dampening != 0)) {
    throw Error(ErrorKind::InvalidArgument, "ValueError", "Nesterov momentum requires a momentum and zero dampening");
  }
}

void SGD::check_sparse() const {
  if (options_.weight_decay == 0) return;
  throw Error(ErrorKind::InvalidArgument, "weight_decay option is not compatible with sparse gradients");
}

void SGD::move(std::size_t number, const Tensor& gradient) {
  const Tensor& parameter = parameters()[number];
  const Tensor decayed_gradient = decayed(gradient, parameter, options_.weight_decay);
  const bool is_plain = options_.momentum == 0 || gradient.is_sparse();
  tensor::add_(parameter, is_plain ? decayed_gradient : direction(number, decayed_gradient), -learning_rate());
}

Optimizer::StateFields SGD::state_of(std::size_t number) {
  if (options_.momentum == 0) return {};
  return {{"momentum_buffer", &velocities_[number]}};
}

Tensor SGD::direction(std::size_t number, const Tensor& gradient) {
  Tensor& velocity = velocities_[number];
  if (velocity.defined()) {
    use_on_current_stream(velocity);
    tensor::mul_(velocity, options_.momentum);
    tensor::add_(velocity, gradient, 1 - options_.dampening);
  } else {
    velocity = tensor::clone(gradient);  // without dampening
  }
  return options_.nesterov ? tensor::add(gradient, velocity, options_.momentum) : velocity;
}

}  // namespace distrun::nn
