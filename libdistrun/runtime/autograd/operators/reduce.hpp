#pragma once
// Reductions for users. See <distrun/runtime/tensor/operators/reduce.hpp>.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun {

// The gradient of a sparse tensor's sum is sparse, at its stored entries.
Tensor sum(const Tensor& tensor);
Tensor sum(const Tensor& tensor, const Dims& dims, bool keep_dims = false);
template <tensor::Integer Int>
Tensor sum(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return distrun::sum(tensor, Dims{static_cast<std::int64_t>(dim)}, keep_dim);
}
Tensor mean(const Tensor& tensor);
Tensor mean(const Tensor& tensor, const Dims& dims, bool keep_dims = false);
template <tensor::Integer Int>
Tensor mean(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return distrun::mean(tensor, Dims{static_cast<std::int64_t>(dim)}, keep_dim);
}
Tensor mse_loss(const Tensor& input, const Tensor& target);

// These have no gradient.
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
bool equal(const Tensor& a, const Tensor& b);

}  // namespace distrun
