#pragma once
// Softmax along a dimension, and its logarithm, which stays exact where the softmax is nearly 0. Floating dtypes.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

// Returns exp(x) divided by their sum along `dim`; each line sums to 1.
Tensor softmax(const Tensor& input, std::int64_t dim);
// Returns the gradient of softmax(); `result` is its result.
Tensor softmax_gradient(const Tensor& gradient, const Tensor& result, std::int64_t dim);

// Returns the logarithm of softmax().
Tensor log_softmax(const Tensor& input, std::int64_t dim);
// Returns the gradient of log_softmax(); `result` is its result.
Tensor log_softmax_gradient(const Tensor& gradient, const Tensor& result, std::int64_t dim);

}  // namespace distrun::tensor::plain
