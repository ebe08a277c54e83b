#pragma once
// Products of matrices. Floating ones are Eigen's, on one thread. The dtypes must be the same.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

Tensor mm(const Tensor& a, const Tensor& b);   // two matrices
Tensor bmm(const Tensor& a, const Tensor& b);  // [batch, n, k] times [batch, k, m]
// By the number of dimensions: 1 and 1 the dot product; a vector is a row on the left and a column on the right; what
// stands before the last two dimensions is a batch, and stretches.
Tensor matmul(const Tensor& a, const Tensor& b);
// The product of at least two matrices, in the order that costs least. The first and the last may be vectors.
Tensor multi_dot(const TensorList& tensors);
// x w^T + bias for x [..., in], w [out, in], bias [out], or what stretches to the result, or undefined.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

}  // namespace distrun::tensor::plain
