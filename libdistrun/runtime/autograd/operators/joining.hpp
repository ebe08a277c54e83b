#pragma once
// Joins several tensors into one. See <distrun/runtime/tensor/operators/joining.hpp>.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun {

// Concatenates along a dimension; the other sizes are the same. Dtypes are promoted. Throws Error{InvalidArgument} for
// an empty list and for sizes that do not fit.
Tensor cat(const TensorList& tensors, std::int64_t dim = 0);
// Joins tensors of the same sizes along a new dimension.
Tensor stack(const TensorList& tensors, std::int64_t dim = 0);

}  // namespace distrun
