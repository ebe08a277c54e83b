#pragma once
// Matrix products. Floating ones use Eigen on one thread. The dtypes must be the same.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

Tensor mm(const Tensor& a, const Tensor& b);   // two matrices
Tensor bmm(const Tensor& a, const Tensor& b);  // [batch, n, k] times [batch, k, m]
// Depends on the dimensions: two vectors give the dot product; a vector is a row on the left and a column on the right;
// dimensions before the last two are a batch, and are broadcast.
Tensor matmul(const Tensor& a, const Tensor& b);
// Multiplies at least two matrices in the cheapest order. The first and the last may be vectors.
Tensor multi_dot(const TensorList& tensors);
// Computes x w^T + bias for x [..., in], w [out, in]; the bias is [out], broadcastable to the result, or undefined.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

}  // namespace distrun::tensor::plain
