#pragma once
// Tensors by name, in an order: what modules and optimizers consist of, and what files hold.
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// What a file says beside them.
using Metadata = std::map<std::string, std::string>;

// The first of that name; null if there is none.
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
