#pragma once
// Joins several tensors.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

// Concatenates along a dimension; the other sizes are the same. Dtypes are promoted.
Tensor cat(const TensorList& tensors, std::int64_t dim = 0);
// Joins along a new dimension; all have the same sizes. Sparse tensors give a sparse one.
Tensor stack(const TensorList& tensors, std::int64_t dim = 0);

}  // namespace distrun::tensor::plain
