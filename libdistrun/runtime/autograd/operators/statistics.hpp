#pragma once
// Variance, norms, and sums and products along a dimension. See statistics.hpp and cumulative.hpp in
// <distrun/runtime/tensor/operators/>.
#include <concepts>
#include <optional>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun {

// The variance of all elements, or of those along some dimensions (an empty list means all): the mean squared distance
// from the mean, in double; divided by n - 1 if `unbiased`, otherwise by n. NaN for too few elements. Floating dtypes.
Tensor var(const Tensor& tensor);
Tensor var(const Tensor& tensor, const Dims& dims, bool unbiased = true, bool keep_dims = false);
// The square root of var(). "std" in the operator table.
Tensor standard_deviation(const Tensor& tensor);
Tensor standard_deviation(const Tensor& tensor, const Dims& dims, bool unbiased = true, bool keep_dims = false);
// The p-norm, 2 by default: square root of the sum of squares; 1: sum of absolute values; 0: count of elements other
// than 0; infinity: largest absolute value; minus infinity: smallest. Throws Error{InvalidArgument} for another p.
Tensor norm(const Tensor& tensor, const std::optional<Scalar>& p = {});
Tensor norm(const Tensor& tensor, const std::optional<Scalar>& p, const Dims& dims, bool keep_dims = false);
// var() over all elements. Takes only bool: {} and {0}, which convert to bool, are lists of dimensions.
template <std::same_as<bool> Bool>
Tensor var(const Tensor& tensor, Bool unbiased) {
  return distrun::var(tensor, Dims{}, unbiased);
}
// standard_deviation() over all elements.
template <std::same_as<bool> Bool>
Tensor standard_deviation(const Tensor& tensor, Bool unbiased) {
  return distrun::standard_deviation(tensor, Dims{}, unbiased);
}
// var() along one dimension.
template <tensor::Integer Int>
Tensor var(const Tensor& tensor, Int dim, bool unbiased = true, bool keep_dim = false) {
  return distrun::var(tensor, Dims{static_cast<std::int64_t>(dim)}, unbiased, keep_dim);
}
// standard_deviation() along one dimension.
template <tensor::Integer Int>
Tensor standard_deviation(const Tensor& tensor, Int dim, bool unbiased = true, bool keep_dim = false) {
  return distrun::standard_deviation(tensor, Dims{static_cast<std::int64_t>(dim)}, unbiased, keep_dim);
}
// norm() along one dimension.
template <tensor::Integer Int>
Tensor norm(const Tensor& tensor, const std::optional<Scalar>& p, Int dim, bool keep_dim = false) {
  return distrun::norm(tensor, p, Dims{static_cast<std::int64_t>(dim)}, keep_dim);
}

// Adds up each element and all before it along `dim`; integers and bools give int64.
Tensor cumsum(const Tensor& tensor, std::int64_t dim);
// The product of all elements; 1 if empty. Integers and bools give int64, which wraps.
Tensor prod(const Tensor& tensor);
// The products along a dimension.
Tensor prod_along(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);
// Is prod_along().
template <tensor::Integer Int>
Tensor prod(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return distrun::prod_along(tensor, static_cast<std::int64_t>(dim), keep_dim);
}

}  // namespace distrun
