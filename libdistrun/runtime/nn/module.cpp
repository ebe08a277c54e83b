#include <distrun/runtime/nn/module.hpp>

#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/copies.hpp>

namespace distrun::nn {

std::vector<std::pair<std::string, Tensor>> Module::named_parameters() const {
  auto all = parameters_;
  for (const auto& [name, part] : parts_) {
    for (auto& [inner, tensor] : part->named_parameters()) all.emplace_back(name + "." + inner, std::move(tensor));
  }
  return all;
}

TensorList Module::parameters() const {
  TensorList all;
  for (auto& [name, tensor] : named_parameters()) all.push_back(std::move(tensor));
  return all;
}

void Module::to(Device device) {
  for (auto& [name, tensor] : parameters_) {
    if (tensor.device() == device) continue;
    const Tensor moved = set_requires_grad(detach(distrun::to(detach(tensor), device)), requires_grad(tensor));
    if (const Tensor gradient = grad(tensor); gradient.defined()) set_grad(moved, distrun::to(gradient, device));
    tensor = moved;
  }
  for (const auto& [name, part] : parts_) part->to(device);
}

void Module::train(bool on) {
  is_training_ = on;
  for (const auto& [name, part] : parts_) part->train(on);
}

void Module::zero_grad() {
  for (const Tensor& tensor : parameters()) set_grad(tensor, Tensor());
}

std::size_t Module::add_parameter(std::string name, Tensor value) {
  parameters_.emplace_back(std::move(name), set_requires_grad(value));
  return parameters_.size() - 1;
}

void Module::add_part(std::string name, std::shared_ptr<Module> part) {
  parts_.emplace_back(std::move(name), std::move(part));
}

}  // namespace distrun::nn
