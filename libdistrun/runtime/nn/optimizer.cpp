#include <distrun/runtime/nn/optimizer.hpp>

#include <charconv>
#include <unordered_map>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/grad_mode.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/variable.hpp>
#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>

namespace distrun::nn {
namespace {

[[noreturn]] void refuse(const char* name, const std::string& text) {
  throw Error(ErrorKind::InvalidArgument, std::string(name) + ": " + text);
}

bool fits(const Tensor& gradient, const Tensor& parameter) {
  return gradient.sizes() == parameter.sizes() && gradient.dtype() == parameter.dtype() &&
         gradient.device() == parameter.device();
}

}  // namespace

Optimizer::Optimizer(const char* name, TensorList parameters, double learning_rate)
    : name_(name), parameters_(std::move(parameters)), learning_rate_(learning_rate) {
  std::unordered_map<const tensor::TensorImpl*, std::size_t> places;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const std::string which = "parameter " + std::to_string(i);
    if (!parameters_[i].defined() || !is_leaf(parameters_[i]) || !requires_grad(parameters_[i])) {
      refuse(name, which + " is not a leaf that requires a gradient");
    }
    const auto [first, is_new] = places.try_emplace(parameters_[i].impl(), i);
    if (is_new) continue;
    refuse(name, which + " is parameter " + std::to_string(first->second) + " again; pass each parameter once");
  }
  check_learning_rate(learning_rate);
}

void Optimizer::check_learning_rate(double rate) { check_option(rate >= 0, "learning rate", rate); }

void Optimizer::set_learning_rate(double rate) {
  check_learning_rate(rate);
  const std::lock_guard lock(stepping_);
  learning_rate_.store(rate, std::memory_order_relaxed);
}

void Optimizer::check_option(bool is_valid, const char* option, double value) {
  if (is_valid) return;
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  throw Error(ErrorKind::InvalidArgument, "ValueError",
              "Invalid " + std::string(option) + ": " + std::string(text, end));
}

void Optimizer::check(const TensorList& gradients) const {
  if (gradients.size() != parameters_.size()) {
    refuse(name_,
           std::to_string(gradients.size()) + " gradients for " + std::to_string(parameters_.size()) + " parameters");
  }
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Tensor &gradient = gradients[i], &parameter = parameters_[i];
    const autograd::Variable* const variable = autograd::variable_of(parameter);
    if (variable != nullptr && variable->is_replaced) {
      refuse(name_, "parameter " + std::to_string(i) + " (" + describe(parameter) +
                        ") no longer belongs to its module, which has moved to another device; create the optimizer "
                        "after Module::to()");
    }
    if (!gradient.defined()) continue;
    if (!fits(gradient, parameter)) {
      refuse(name_, "gradient " + std::to_string(i) + " (" + describe(gradient) + ") does not fit its parameter (" +
                        describe(parameter) + ")");
    }
    if (gradient.is_sparse()) check_sparse();
  }
}

void Optimizer::step(const TensorList& gradients) {
  check(gradients);
  const NoGradGuard unrecorded;
  const std::lock_guard lock(stepping_);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].defined()) move(i, gradients[i]);
  }
}

void Optimizer::step() {
  TensorList gradients;
  gradients.reserve(parameters_.size());
  for (const Tensor& parameter : parameters_) gradients.push_back(grad(parameter));
  step(gradients);
}

void Optimizer::zero_grad() {
  for (const Tensor& parameter : parameters_) set_grad(parameter, Tensor());
}

Tensor decayed(const Tensor& gradient, const Tensor& parameter, double weight_decay) {
  return weight_decay == 0 ? gradient : tensor::add(gradient, parameter, weight_decay);
}

void use_on_current_stream(const Tensor& state) {
  if (!state.device().is_cpu()) state.record_stream(device::current_stream(state.device()));
}

}  // namespace distrun::nn
