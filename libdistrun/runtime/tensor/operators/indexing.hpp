#pragma once
// Elements by numbers that stand in a tensor: int64, 0 to the size of the dimension less 1. They are looked at before:
// all of these wait for the device, and throw Error{InvalidArgument} for one out of range. What is added up is added in
// the order of the numbers, so that sums are the same every time.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// Whether an index has been looked at before, as in gradients: then nobody waits.
enum class Numbers : std::uint8_t { Unknown, InRange };

namespace plain {

// out[i][j][k] = x[i][index[i][j][k]][k] for dim 1. The index has as many dimensions as x, and sizes no larger than x's
// but along `dim`; it gives the result its sizes.
Tensor gather(const Tensor& x, std::int64_t dim, const Tensor& index, Numbers numbers = Numbers::Unknown);
// The other way: x[i][index[i][j][k]][k] += source[i][j][k]. Sizes of the index are no larger than those of the source,
// too. The first makes a copy of x, the second changes it. The source has x's dtype.
Tensor scatter_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source);
void scatter_add_(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                  Numbers numbers = Numbers::Unknown);

// The slices of x that a list of numbers names, one after the other; index [n], or [] for one.
Tensor index_select(const Tensor& x, std::int64_t dim, const Tensor& index, Numbers numbers = Numbers::Unknown);
// slice index[i] of x += alpha * slice i of the source.
Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1);
void index_add_(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1,
                Numbers numbers = Numbers::Unknown);

// int64 [..., classes]: 1 at the place of each number, else 0. Without a number of classes it is the largest plus 1.
Tensor one_hot(const Tensor& numbers, std::int64_t classes = -1);

}  // namespace plain
}  // namespace distrun::tensor
