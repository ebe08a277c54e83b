#pragma once
// Maxima and minima for users. See <distrun/runtime/tensor/operators/extremes.hpp>.
#include <distrun/runtime/tensor/operators/extremes.hpp>

namespace distrun {

using tensor::Extremes;

// The largest element, without dimensions. The gradient is shared by all elements equal to the result, as for min, amax
// and amin. Throws Error{InvalidArgument} for an empty tensor.
Tensor max(const Tensor& tensor);
// The smallest element, in the same way.
Tensor min(const Tensor& tensor);
// The largest elements along a dimension, and their indices: the first of equal ones, which gets the gradient. NaN
// counts as larger than all numbers.
Extremes max_along(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);
// The smallest elements along a dimension, and their indices: the first of equal ones, which gets the gradient. NaN
// counts as smaller than all numbers.
Extremes min_along(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);
// Is max_along().
template <tensor::Integer Int>
Extremes max(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return distrun::max_along(tensor, static_cast<std::int64_t>(dim), keep_dim);
}
// Is min_along().
template <tensor::Integer Int>
Extremes min(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return distrun::min_along(tensor, static_cast<std::int64_t>(dim), keep_dim);
}
// The largest element over some dimensions; an empty list means all. With keep_dims they stay, with size 1.
Tensor amax(const Tensor& tensor, const Dims& dims = {}, bool keep_dims = false);
// The smallest element over some dimensions; an empty list means all. With keep_dims they stay, with size 1.
Tensor amin(const Tensor& tensor, const Dims& dims = {}, bool keep_dims = false);
// The largest element along one dimension.
template <tensor::Integer Int>
Tensor amax(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return distrun::amax(tensor, Dims{static_cast<std::int64_t>(dim)}, keep_dim);
}
// The smallest element along one dimension.
template <tensor::Integer Int>
Tensor amin(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return distrun::amin(tensor, Dims{static_cast<std::int64_t>(dim)}, keep_dim);
}

// These return indices of the largest and the smallest element, int64, and have no gradient; without a dimension the
// index among all elements, row by row. The first of equal elements counts.
Tensor argmax(const Tensor& tensor);
Tensor argmin(const Tensor& tensor);
Tensor argmax(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);
Tensor argmin(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);

}  // namespace distrun
