#pragma once
// Variance, norms, and sums and products along a dimension. See statistics.hpp and cumulative.hpp in
// <distrun/runtime/tensor/operators/>.
#include <concepts>
#include <optional>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun {

Tensor var(const Tensor& tensor);
Tensor var(const Tensor& tensor, const Dims& dims, bool unbiased = true, bool keep_dims = false);
// "std" in the operator table.
Tensor standard_deviation(const Tensor& tensor);
Tensor standard_deviation(const Tensor& tensor, const Dims& dims, bool unbiased = true, bool keep_dims = false);
// p is 2 by default.
Tensor norm(const Tensor& tensor, const std::optional<Scalar>& p = {});
Tensor norm(const Tensor& tensor, const std::optional<Scalar>& p, const Dims& dims, bool keep_dims = false);
// Takes only bool: {} and {0}, which convert to bool, are lists of dimensions.
template <std::same_as<bool> Bool>
Tensor var(const Tensor& tensor, Bool unbiased) {
  return distrun::var(tensor, Dims{}, unbiased);
}
template <std::same_as<bool> Bool>
Tensor standard_deviation(const Tensor& tensor, Bool unbiased) {
  return distrun::standard_deviation(tensor, Dims{}, unbiased);
}
template <tensor::Integer Int>
Tensor var(const Tensor& tensor, Int dim, bool unbiased = true, bool keep_dim = false) {
  return distrun::var(tensor, Dims{static_cast<std::int64_t>(dim)}, unbiased, keep_dim);
}
template <tensor::Integer Int>
Tensor standard_deviation(const Tensor& tensor, Int dim, bool unbiased = true, bool keep_dim = false) {
  return distrun::standard_deviation(tensor, Dims{static_cast<std::int64_t>(dim)}, unbiased, keep_dim);
}
template <tensor::Integer Int>
Tensor norm(const Tensor& tensor, const std::optional<Scalar>& p, Int dim, bool keep_dim = false) {
  return distrun::norm(tensor, p, Dims{static_cast<std::int64_t>(dim)}, keep_dim);
}

Tensor cumsum(const Tensor& tensor, std::int64_t dim);
Tensor prod(const Tensor& tensor);
Tensor prod_along(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);
template <tensor::Integer Int>
Tensor prod(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return distrun::prod_along(tensor, static_cast<std::int64_t>(dim), keep_dim);
}

}  // namespace distrun
