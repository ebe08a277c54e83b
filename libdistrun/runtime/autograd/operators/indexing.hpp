#pragma once
// Access to elements by index tensors. See <distrun/runtime/tensor/operators/indexing.hpp>; all check the indices and
// wait for the device. In-place forms return their first argument.
#include <distrun/runtime/tensor/operators/indexing.hpp>

namespace distrun {

using tensor::one_hot;

// Returns elements by an index of the same number of dimensions: for dim 1, out[i][j][k] = x[i][index[i][j][k]][k].
Tensor gather(const Tensor& x, std::int64_t dim, const Tensor& index);
// Adds in the reverse direction: for dim 1, x[i][index[i][j][k]][k] += source[i][j][k]. Returns a new tensor; the
// in-place form changes x.
Tensor scatter_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source);
// Is scatter_add() in place.
Tensor scatter_add_(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source);
// Returns the slices of x along `dim` with these numbers, in order; index [n], or [] for one.
Tensor index_select(const Tensor& x, std::int64_t dim, const Tensor& index);
// Adds slices: slice index[i] of x += alpha * slice i of the source. Returns a new tensor.
Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1);
// Is index_add() in place.
Tensor index_add_(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                  const Scalar& alpha = 1);

// Returns x with `value` where the mask is true. The mask is bool and is broadcast to x's sizes.
Tensor masked_fill(const Tensor& x, const Tensor& mask, const Scalar& value);
// Returns [n]: the elements where the mask is true, in the order of x. Mask and x are broadcast to common sizes.
Tensor masked_select(const Tensor& x, const Tensor& mask);

}  // namespace distrun
