#pragma once
// Variances and norms. Floating dtypes; computed in double. An empty list of dimensions means all.
#include <concepts>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

// Returns the mean squared distance from the mean; unbiased ones divide by the number of elements minus one. NaN for
// too few elements. standard_deviation is its square root.
Tensor var(const Tensor& tensor);
Tensor var(const Tensor& tensor, const Dims& dims, bool unbiased = true, bool keep_dims = false);
// The square root of var().
Tensor standard_deviation(const Tensor& tensor);
Tensor standard_deviation(const Tensor& tensor, const Dims& dims, bool unbiased = true, bool keep_dims = false);
// var() of all elements. Excludes types that only convert to bool, such as the lists {} and {0}.
template <std::same_as<bool> Bool>
Tensor var(const Tensor& tensor, Bool unbiased) {
  return var(tensor, Dims{}, unbiased);
}
// standard_deviation() of all elements.
template <std::same_as<bool> Bool>
Tensor standard_deviation(const Tensor& tensor, Bool unbiased) {
  return standard_deviation(tensor, Dims{}, unbiased);
}
// var() along one dimension.
template <Integer Int>
Tensor var(const Tensor& tensor, Int dim, bool unbiased = true, bool keep_dim = false) {
  return var(tensor, Dims{static_cast<std::int64_t>(dim)}, unbiased, keep_dim);
}
// standard_deviation() along one dimension.
template <Integer Int>
Tensor standard_deviation(const Tensor& tensor, Int dim, bool unbiased = true, bool keep_dim = false) {
  return standard_deviation(tensor, Dims{static_cast<std::int64_t>(dim)}, unbiased, keep_dim);
}

// p = 2: square root of the sum of squares; 1: sum of absolute values; 0: count of elements other than 0; infinity:
// largest absolute value; minus infinity: smallest. Throws Error{InvalidArgument} for others.
Tensor norm(const Tensor& tensor, const Scalar& p = 2);
Tensor norm(const Tensor& tensor, const Scalar& p, const Dims& dims, bool keep_dims = false);
template <Integer Int>
Tensor norm(const Tensor& tensor, const Scalar& p, Int dim, bool keep_dim = false) {
  return norm(tensor, p, Dims{static_cast<std::int64_t>(dim)}, keep_dim);
}

// The norm's gradient; `gradient` and `result` have the sizes of a result with kept dimensions.
Tensor norm_gradient(const Tensor& gradient, const Tensor& input, const Tensor& result, const Scalar& p,
                     const Dims& dims);

}  // namespace distrun::tensor::plain
