#include <distrun/runtime/nn/adagrad.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>

namespace distrun::nn {

Adagrad::Adagrad(TensorList parameters, AdagradOptions options)
    : Optimizer("Adagrad", std::move(parameters), options.learning_rate),
      options_(options),
      states_(this->parameters().size()) {
  check_option(options.lr_decay >= 0, "lr_decay value", options.lr_decay);
  check_option(options.weight_decay >= 0, "weight_decay value", options.weight_decay);
  check_option(options.initial_accumulator_value >= 0, "initial_accumulator_value value",
               options.initial_accumulator_value);
  check_option(options.epsilon >= 0, "epsilon value", options.epsilon);
}

void Adagrad::check_sparse() const {
  if (options_.weight_decay == 0) return;
  throw Error(ErrorKind::InvalidArgument, "weight_decay option is not compatible with sparse gradients");
}

void Adagrad::move(std::size_t number, const Tensor& gradient) {
  State& state = states_[number];
  const Tensor& parameter = parameters()[number];
  if (!state.square_sum.defined()) {
    state.square_sum = tensor::full(parameter.sizes(), options_.initial_accumulator_value, parameter.options());
  }
  use_on_current_stream(state.square_sum);
  const double rate = learning_rate() / (1 + static_cast<double>(state.steps++) * options_.lr_decay);
  if (gradient.is_sparse()) return move_sparse(parameter, state.square_sum, gradient, rate);
  move_dense(parameter, state.square_sum, decayed(gradient, parameter, options_.weight_decay), rate);
}

Optimizer::StateFields Adagrad::state_of(std::size_t number) {
  return {{"step", &states_[number].steps}, {"sum", &states_[number].square_sum}};
}

Tensor Adagrad::measured(const Tensor& gradient, const Tensor& square_sum) const {
  const Tensor measure = tensor::sqrt(square_sum);
  tensor::add_(measure, options_.epsilon);
  return tensor::div(gradient, measure);
}

void Adagrad::move_dense(const Tensor& parameter, const Tensor& sum, const Tensor& gradient, double rate) const {
  tensor::add_(sum, tensor::mul(gradient, gradient));
  tensor::add_(parameter, measured(gradient, sum), -rate);
}

// Entries of one place must be summed before they are squared.
void Adagrad::move_sparse(const Tensor& parameter, const Tensor& sum, const Tensor& gradient, double rate) const {
  const Tensor entries = tensor::coalesce(gradient);
  const tensor::SparseParts& parts = tensor::sparse(entries);
  const auto with_values = [&](const Tensor& values) {
    return tensor::sparse_coo_unchecked(parts.indices, values, entries.sizes(), true);
  };
  tensor::add_(sum, with_values(tensor::mul(parts.values, parts.values)));
  const Tensor sums = tensor::sparse_mask(sum, entries);
  tensor::add_(parameter, with_values(measured(parts.values, tensor::sparse(sums).values)), -rate);
}

}  // namespace distrun::nn
