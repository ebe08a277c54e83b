#include <distrun/runtime/nn/module.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/copies.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>

namespace distrun::nn {
namespace {

void add_with_prefix(NamedTensors& all, const std::string& prefix, NamedTensors of_part) {
  for (auto& [name, tensor] : of_part) all.emplace_back(prefix + "." + name, std::move(tensor));
}

TensorList without_names(NamedTensors named) {
  TensorList tensors;
  for (auto& [name, tensor] : named) tensors.push_back(std::move(tensor));
  return tensors;
}

}  // namespace

Tensor Module::forward(const Tensor& /*input*/) {
  throw Error(ErrorKind::Unimplemented, "NotImplementedError",
              "this module has no forward() of one tensor to one: call it as what it is, by its operator()");
}

NamedTensors Module::named_parameters() const {
  auto all = parameters_;
  for (const auto& [name, part] : parts_) add_with_prefix(all, name, part->named_parameters());
  return all;
}

NamedTensors Module::named_buffers() const {
  auto all = buffers_;
  for (const auto& [name, part] : parts_) add_with_prefix(all, name, part->named_buffers());
  return all;
}

TensorList Module::parameters() const { return without_names(named_parameters()); }
TensorList Module::buffers() const { return without_names(named_buffers()); }

TensorList Module::trained_parameters() const {
  TensorList all;
  for (const Tensor& tensor : parameters()) {
    if (requires_grad(tensor)) all.push_back(tensor);
  }
  return all;
}

NamedTensors Module::state_dict() const {
  NamedTensors all;
  for (const NamedTensors* own : {&parameters_, &buffers_}) {
    for (const auto& [name, tensor] : *own) all.emplace_back(name, detach(tensor));
  }
  for (const auto& [name, part] : parts_) add_with_prefix(all, name, part->state_dict());
  return all;
}

StateKeys Module::load_state_dict(const NamedTensors& state, bool strict) {
  GivenState given(state);
  std::vector<std::pair<Tensor, const Tensor*>> copies;
  for (const auto& [name, target] : state_dict()) {
    if (const Tensor* source = given.take_for(name, target)) copies.emplace_back(target, source);
  }
  given.check("the module", strict);
  for (const auto& [target, source] : copies) tensor::copy_(target, *source);
  return given.keys();
}

void Module::to(Device device) {
  for (auto& [name, tensor] : parameters_) {
    if (tensor.device() == device) continue;
    const Tensor moved = set_requires_grad(detach(distrun::to(detach(tensor), device)), requires_grad(tensor));
    if (const Tensor gradient = grad(tensor); gradient.defined()) set_grad(moved, distrun::to(gradient, device));
    tensor = moved;
  }
  for (auto& [name, tensor] : buffers_) tensor = distrun::to(tensor, device);
  for (const auto& [name, part] : parts_) part->to(device);
}

void Module::train(bool on) {
  is_training_ = on;
  for (const auto& [name, part] : parts_) part->train(on);
}

void Module::zero_grad() {
  for (const Tensor& tensor : parameters()) set_grad(tensor, Tensor());
}

std::size_t Module::add_parameter(std::string name, Tensor value, bool needs_gradient) {
  parameters_.emplace_back(std::move(name), needs_gradient ? set_requires_grad(value) : std::move(value));
  return parameters_.size() - 1;
}

std::size_t Module::add_buffer(std::string name, Tensor value) {
  buffers_.emplace_back(std::move(name), std::move(value));
  return buffers_.size() - 1;
}

void Module::add_part(std::string name, std::shared_ptr<Module> part) {
  parts_.emplace_back(std::move(name), std::move(part));
}

}  // namespace distrun::nn
