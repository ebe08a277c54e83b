#pragma once
// Reductions for users. See <distrun/runtime/tensor/operators/reduce.hpp>.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun {

// Adds up all elements, or those along some dimensions (an empty list means all); with keep_dims these stay, with size
// 1. Computed in double; integers and bools give int64, which wraps. Bitwise reproducible. The gradient of a sparse
// tensor's sum is sparse, at its stored entries.
Tensor sum(const Tensor& tensor);
Tensor sum(const Tensor& tensor, const Dims& dims, bool keep_dims = false);
template <tensor::Integer Int>
Tensor sum(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return distrun::sum(tensor, Dims{static_cast<std::int64_t>(dim)}, keep_dim);
}
// The mean in the same way; floating dtypes only.
Tensor mean(const Tensor& tensor);
Tensor mean(const Tensor& tensor, const Dims& dims, bool keep_dims = false);
template <tensor::Integer Int>
Tensor mean(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return distrun::mean(tensor, Dims{static_cast<std::int64_t>(dim)}, keep_dim);
}
// The mean of the squared differences, without dimensions. Throws Error{InvalidArgument} for different sizes.
Tensor mse_loss(const Tensor& input, const Tensor& target);

// These return bool tensors: whether all elements, or any element, differ from 0; without elements true and false. They
// have no gradient.
Tensor all(const Tensor& tensor);
Tensor all_along(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);
template <tensor::Integer Int>
Tensor all(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return distrun::all_along(tensor, static_cast<std::int64_t>(dim), keep_dim);
}
Tensor any(const Tensor& tensor);
Tensor any_along(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);
template <tensor::Integer Int>
Tensor any(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return distrun::any_along(tensor, static_cast<std::int64_t>(dim), keep_dim);
}
// Returns whether sizes, dtype and all elements are equal; NaN equals nothing. Waits for the device. Throws
// Error{InvalidArgument} for different devices.
bool equal(const Tensor& a, const Tensor& b);

}  // namespace distrun
