#pragma once
// Matrix products for users. See <distrun/runtime/tensor/operators/matmul.hpp>.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun {

Tensor mm(const Tensor& a, const Tensor& b);
Tensor bmm(const Tensor& a, const Tensor& b);
Tensor matmul(const Tensor& a, const Tensor& b);
Tensor multi_dot(const TensorList& tensors);
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

}  // namespace distrun
