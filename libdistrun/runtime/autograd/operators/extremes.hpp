#pragma once
// Maxima and minima for users. See <distrun/runtime/tensor/operators/extremes.hpp>.
#include <distrun/runtime/tensor/operators/extremes.hpp>

namespace distrun {

using tensor::Extremes;

// The gradient of max, min, amax and amin is shared by all elements equal to the result; max and min along a dimension
// give it to the element at the returned index.
Tensor max(const Tensor& tensor);
Tensor min(const Tensor& tensor);
Extremes max_along(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);
Extremes min_along(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);
template <tensor::Integer Int>
Extremes max(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return distrun::max_along(tensor, static_cast<std::int64_t>(dim), keep_dim);
}
template <tensor::Integer Int>
Extremes min(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return distrun::min_along(tensor, static_cast<std::int64_t>(dim), keep_dim);
}
Tensor amax(const Tensor& tensor, const Dims& dims = {}, bool keep_dims = false);
Tensor amin(const Tensor& tensor, const Dims& dims = {}, bool keep_dims = false);
template <tensor::Integer Int>
Tensor amax(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return distrun::amax(tensor, Dims{static_cast<std::int64_t>(dim)}, keep_dim);
}
template <tensor::Integer Int>
Tensor amin(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return distrun::amin(tensor, Dims{static_cast<std::int64_t>(dim)}, keep_dim);
}

// These have no gradient.
Tensor argmax(const Tensor& tensor);
Tensor argmin(const Tensor& tensor);
Tensor argmax(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);
Tensor argmin(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);

}  // namespace distrun
