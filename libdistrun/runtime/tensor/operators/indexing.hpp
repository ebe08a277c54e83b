#pragma once
// Indexing by a tensor of int64 numbers, 0 .. size - 1 of the dimension. Numbers are checked first: all functions wait
// for the device and throw Error{InvalidArgument} for one out of range. Sums are added in the order of the numbers, so
// they are reproducible.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// Says if an index was checked before, as in gradients: then no wait is necessary.
enum class Numbers : std::uint8_t { Unknown, InRange };

namespace plain {

// out[i][j][k] = x[i][index[i][j][k]][k] for dim 1. The index has as many dimensions as x, and no size larger than x's
// except along `dim`; the result has the index's sizes.
Tensor gather(const Tensor& x, std::int64_t dim, const Tensor& index, Numbers numbers = Numbers::Unknown);
// The reverse: x[i][index[i][j][k]][k] += source[i][j][k], on a copy of x. The index must not exceed the source either.
// The source has x's dtype.
Tensor scatter_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source);
// Is scatter_add() in place.
void scatter_add_(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                  Numbers numbers = Numbers::Unknown);

// Returns the slices of x with these numbers, in order; index [n], or [] for one.
Tensor index_select(const Tensor& x, std::int64_t dim, const Tensor& index, Numbers numbers = Numbers::Unknown);
// Adds, on a copy of x: slice index[i] of x += alpha * slice i of the source.
Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1);
// Is index_add() in place.
void index_add_(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1,
                Numbers numbers = Numbers::Unknown);

// Returns int64 [..., classes]: 1 at each number's position, otherwise 0. Without `classes` it is the largest plus 1.
Tensor one_hot(const Tensor& numbers, std::int64_t classes = -1);

}  // namespace plain
}  // namespace distrun::tensor
