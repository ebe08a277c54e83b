#pragma once
// Matrix products for users. See <distrun/runtime/tensor/operators/matmul.hpp>.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun {

// These throw Error{InvalidArgument} for sizes that do not fit, dtypes that differ, and bool.
Tensor mm(const Tensor& a, const Tensor& b);   // [n, k] times [k, m]
Tensor bmm(const Tensor& a, const Tensor& b);  // [batch, n, k] times [batch, k, m]
// by the dimensions: vectors, matrices, and batches of matrices, which are broadcast
Tensor matmul(const Tensor& a, const Tensor& b);
// the product of at least two matrices in the cheapest order; the first and the last may be vectors
Tensor multi_dot(const TensorList& tensors);
// x weight^T + bias for x [..., in], weight [out, in], bias [out] or undefined
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

}  // namespace distrun
