#pragma once
// Several tensors as one.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

// One after the other along a dimension; the other sizes are the same. Dtypes are promoted.
Tensor cat(const TensorList& tensors, std::int64_t dim = 0);
// Along a new dimension; all have the same sizes. Sparse ones make a sparse one.
Tensor stack(const TensorList& tensors, std::int64_t dim = 0);

}  // namespace distrun::tensor::plain
