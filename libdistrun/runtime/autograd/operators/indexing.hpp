#pragma once
// Access to elements by index tensors. See <distrun/runtime/tensor/operators/indexing.hpp>; all check the indices and
// wait for the device. In-place forms return their first argument.
#include <distrun/runtime/tensor/operators/indexing.hpp>

namespace distrun {

using tensor::one_hot;

Tensor gather(const Tensor& x, std::int64_t dim, const Tensor& index);
Tensor scatter_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source);
Tensor scatter_add_(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source);
Tensor index_select(const Tensor& x, std::int64_t dim, const Tensor& index);
Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1);
Tensor index_add_(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                  const Scalar& alpha = 1);

// The mask is bool and is broadcast to x's sizes.
Tensor masked_fill(const Tensor& x, const Tensor& mask, const Scalar& value);
// Returns [n]: the elements where the mask is true, in the order of x. Mask and x are broadcast to common sizes.
Tensor masked_select(const Tensor& x, const Tensor& mask);

}  // namespace distrun
