#pragma once
// Joins several tensors into one. See <distrun/runtime/tensor/operators/joining.hpp>.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun {

Tensor cat(const TensorList& tensors, std::int64_t dim = 0);
Tensor stack(const TensorList& tensors, std::int64_t dim = 0);

}  // namespace distrun
