#include <distrun/runtime/nn/module.hpp>

#include <algorithm>
#include <unordered_set>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/copies.hpp>
#include <distrun/runtime/autograd/variable.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>

namespace distrun::nn {
namespace {

void add_with_prefix(NamedTensors& all, const std::string& prefix, NamedTensors of_part) {
  for (auto& [name, tensor] : of_part) all.emplace_back(prefix + "." + name, std::move(tensor));
}

// Keeps each tensor once, under its first name.
NamedTensors each_once(NamedTensors named) {
  std::unordered_set<const tensor::TensorImpl*> seen;
  std::erase_if(named, [&seen](const auto& each) { return !seen.insert(each.second.impl()).second; });
  return named;
}

TensorList without_names(NamedTensors named) {
  TensorList tensors;
  for (auto& [name, tensor] : named) tensors.push_back(std::move(tensor));
  return tensors;
}

void check_given(bool is_given, const char* what, const std::string& name) {
  if (!is_given)
    throw Error(ErrorKind::InvalidArgument, "a module's " + std::string(what) + " \"" + name + "\" is missing");
}

// Returns the tensor itself if it is on that device.
Tensor leaf_on(Device device, const Tensor& tensor) {
  if (tensor.device() == device) return tensor;
  const Tensor leaf = set_requires_grad(detach(distrun::to(detach(tensor), device)), requires_grad(tensor));
  if (const Tensor gradient = grad(tensor); gradient.defined()) set_grad(leaf, distrun::to(gradient, device));
  autograd::make_variable(tensor).is_replaced = true;
  return leaf;
}

}  // namespace

Tensor Module::forward(const Tensor& /*input*/) {
  throw Error(ErrorKind::Unimplemented, "NotImplementedError",
              "this module has no forward() from one tensor to one tensor; call operator() of its own type");
}

NamedTensors Module::named_parameters() const {
  auto all = parameters_;
  for (const auto& [name, part] : parts_) add_with_prefix(all, name, part->named_parameters());
  return each_once(std::move(all));
}

NamedTensors Module::named_buffers() const {
  auto all = buffers_;
  for (const auto& [name, part] : parts_) add_with_prefix(all, name, part->named_buffers());
  return each_once(std::move(all));
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
  Moves moved;
  move_to(device, moved);
}

void Module::move_to(Device device, Moves& moved) {
  for (NamedTensors* own : {&parameters_, &buffers_}) {
    for (auto& [name, tensor] : *own) {
      const auto [known, is_new] = moved.try_emplace(tensor.impl(), tensor, Tensor());
      auto& [before, after] = known->second;
      if (is_new) after = own == &parameters_ ? leaf_on(device, before) : distrun::to(before, device);
      tensor = after;
    }
  }
  for (const auto& [name, part] : parts_) part->move_to(device, moved);
}

void Module::train(bool on) {
  is_training_ = on;
  for (const auto& [name, part] : parts_) part->train(on);
}

void Module::zero_grad() {
  for (const Tensor& tensor : parameters()) set_grad(tensor, Tensor());
}

// State names are composed of these.
void Module::check_name(const std::string& name) const {
  const auto has = [&name](const auto& named) {
    return std::any_of(named.begin(), named.end(), [&name](const auto& each) { return each.first == name; });
  };
  const char* const why = name.empty()                          ? "is empty"
                          : name.find('.') != std::string::npos ? "contains a dot, which separates the names of parts"
                          : has(parameters_) || has(buffers_) || has(parts_) ? "is already used"
                                                                             : nullptr;
  if (why == nullptr) return;
  throw Error(ErrorKind::InvalidArgument, "the name \"" + name + "\" of a module's parameter, buffer or part " + why);
}

std::size_t Module::add_parameter(std::string name, Tensor value, bool needs_gradient) {
  check_name(name);
  check_given(value.defined(), "parameter", name);
  parameters_.emplace_back(std::move(name), needs_gradient ? set_requires_grad(value) : std::move(value));
  return parameters_.size() - 1;
}

std::size_t Module::add_buffer(std::string name, Tensor value) {
  check_name(name);
  check_given(value.defined(), "buffer", name);
  buffers_.emplace_back(std::move(name), std::move(value));
  return buffers_.size() - 1;
}

void Module::add_part(std::string name, std::shared_ptr<Module> part) {
  check_name(name);
  check_given(part != nullptr, "part", name);
  parts_.emplace_back(std::move(name), std::move(part));
}

}  // namespace distrun::nn
