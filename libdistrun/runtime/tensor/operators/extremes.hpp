#pragma once
// Largest and smallest elements and their indices. All dtypes. NaN wins over all numbers; among equal elements the
// first one counts. The reduced dimension is removed, or has size 1 with keep_dim. Throws Error{InvalidArgument} if
// there is no element to choose from.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// Values chosen along a dimension, and where they were.
struct Extremes {
  Tensor values;   // in the dtype of the input
  Tensor indices;  // int64, along the dimension
};

namespace plain {

// The largest element, without dimensions.
Tensor max(const Tensor& tensor);
// The smallest element, without dimensions.
Tensor min(const Tensor& tensor);
// The largest elements along a dimension, and their indices.
Extremes max_along(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);
// The smallest elements along a dimension, and their indices.
Extremes min_along(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);
// Is max_along().
template <Integer Int>
Extremes max(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return max_along(tensor, static_cast<std::int64_t>(dim), keep_dim);
}
// Is min_along().
template <Integer Int>
Extremes min(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return min_along(tensor, static_cast<std::int64_t>(dim), keep_dim);
}

// The largest elements over several dimensions; an empty list means all.
Tensor amax(const Tensor& tensor, const Dims& dims = {}, bool keep_dims = false);
// The smallest elements over several dimensions; an empty list means all.
Tensor amin(const Tensor& tensor, const Dims& dims = {}, bool keep_dims = false);
// The largest elements along one dimension.
template <Integer Int>
Tensor amax(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return amax(tensor, Dims{static_cast<std::int64_t>(dim)}, keep_dim);
}
// The smallest elements along one dimension.
template <Integer Int>
Tensor amin(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return amin(tensor, Dims{static_cast<std::int64_t>(dim)}, keep_dim);
}

// These return int64 indices: of the largest and of the smallest element; without a dimension the index among all
// elements, row by row.
Tensor argmax(const Tensor& tensor);
Tensor argmin(const Tensor& tensor);
Tensor argmax(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);
Tensor argmin(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);

// The gradient of amax() and amin(), and of max() and min() over all: divided among all elements equal to the result.
Tensor extremes_gradient(const Tensor& gradient, const Tensor& input, const Tensor& result, const Dims& dims);

}  // namespace plain
}  // namespace distrun::tensor
