#pragma once
// Tensors by name, in order: the contents of modules, optimizers and files.
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// Names and tensors, in order. Names may repeat; find_named() returns the first.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// A file's metadata.
using Metadata = std::map<std::string, std::string>;

// Returns the first tensor of that name, or null.
inline const Tensor* find_named(const NamedTensors& tensors, std::string_view name) noexcept {
  for (const auto& [each, tensor] : tensors) {
    if (each == name) return &tensor;
  }
  return nullptr;
}

}  // namespace distrun::tensor

namespace distrun {
using tensor::NamedTensors;
}  // namespace distrun
