#pragma once
// How elements are spread, and how long they are as vectors. Floating dtypes; made in double. No dimensions means all.
#include <concepts>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

// The mean of the squared distances from the mean; unbiased ones are divided by one less than the number of elements.
// Of too few it is not a number. standard_deviation is the root of that.
Tensor var(const Tensor& tensor);
Tensor var(const Tensor& tensor, const Dims& dims, bool unbiased = true, bool keep_dims = false);
Tensor standard_deviation(const Tensor& tensor);
Tensor standard_deviation(const Tensor& tensor, const Dims& dims, bool unbiased = true, bool keep_dims = false);
// Not for whatever converts to bool, as the lists {} and {0} do.
template <std::same_as<bool> Bool>
Tensor var(const Tensor& tensor, Bool unbiased) {
  return var(tensor, Dims{}, unbiased);
}
template <std::same_as<bool> Bool>
Tensor standard_deviation(const Tensor& tensor, Bool unbiased) {
  return standard_deviation(tensor, Dims{}, unbiased);
}
template <Integer Int>
Tensor var(const Tensor& tensor, Int dim, bool unbiased = true, bool keep_dim = false) {
  return var(tensor, Dims{static_cast<std::int64_t>(dim)}, unbiased, keep_dim);
}
template <Integer Int>
Tensor standard_deviation(const Tensor& tensor, Int dim, bool unbiased = true, bool keep_dim = false) {
  return standard_deviation(tensor, Dims{static_cast<std::int64_t>(dim)}, unbiased, keep_dim);
}

// p = 2: the root of the sum of squares; 1: the sum of sizes; 0: how many are not 0; infinity: the largest size, or
// with a minus the smallest. Throws Error{InvalidArgument} for others.
Tensor norm(const Tensor& tensor, const Scalar& p = 2);
Tensor norm(const Tensor& tensor, const Scalar& p, const Dims& dims, bool keep_dims = false);
template <Integer Int>
Tensor norm(const Tensor& tensor, const Scalar& p, Int dim, bool keep_dim = false) {
  return norm(tensor, p, Dims{static_cast<std::int64_t>(dim)}, keep_dim);
}

// Of the norm; `gradient` and `result` have the sizes of a result that kept its dimensions.
Tensor norm_gradient(const Tensor& gradient, const Tensor& input, const Tensor& result, const Scalar& p,
                     const Dims& dims);

}  // namespace distrun::tensor::plain
