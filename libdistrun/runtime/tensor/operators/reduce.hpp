#pragma once
// Reductions. Sums of a tensor are bitwise reproducible on every machine; floating ones are computed in double, integer
// and bool ones in int64, which wraps.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

// Sums all elements into a tensor without dimensions. Floating dtypes stay, the others become int64. A sparse tensor's
// stored values.
Tensor sum(const Tensor& tensor);
// Sums over some dimensions; an empty list means all. With keep_dims they stay, with size 1.
Tensor sum(const Tensor& tensor, const Dims& dims, bool keep_dims = false);
// Sums over broadcast dimensions: the gradient of expand(). Returns the tensor itself if the sizes are the same.
Tensor sum_to_size(const Tensor& tensor, const Dims& sizes);
// Sums along one dimension.
template <Integer Int>
Tensor sum(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return sum(tensor, Dims{static_cast<std::int64_t>(dim)}, keep_dim);
}
Tensor mean(const Tensor& tensor);  // floating dtypes only
Tensor mean(const Tensor& tensor, const Dims& dims, bool keep_dims = false);
template <Integer Int>
Tensor mean(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return mean(tensor, Dims{static_cast<std::int64_t>(dim)}, keep_dim);
}

// These return bool tensors: whether all elements, or any element, differ from 0; without elements true and false.
Tensor all(const Tensor& tensor);
Tensor all_along(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);
template <Integer Int>
Tensor all(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return all_along(tensor, static_cast<std::int64_t>(dim), keep_dim);
}
Tensor any(const Tensor& tensor);
Tensor any_along(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);
template <Integer Int>
Tensor any(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return any_along(tensor, static_cast<std::int64_t>(dim), keep_dim);
}
// Returns whether sizes, dtype and elements are equal; NaN equals nothing. Waits for the device. Throws
// Error{InvalidArgument} for different devices. Sparse tensors are compared after coalescing.
bool equal(const Tensor& a, const Tensor& b);

Tensor mse_loss(const Tensor& input, const Tensor& target);  // mean of the squared differences

}  // namespace distrun::tensor::plain
