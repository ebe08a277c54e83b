#pragma once
// Operators that put elements together, as users call them. <distrun/runtime/tensor/operators/reduce.hpp> says what
// each does.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun {

// The gradient of a sparse tensor's sum is sparse, at its stored entries.
Tensor sum(const Tensor& tensor);
Tensor sum(const Tensor& tensor, const Dims& dims, bool keep_dims = false);
Tensor mean(const Tensor& tensor);
Tensor mse_loss(const Tensor& input, const Tensor& target);

// These have no gradient.
Tensor all(const Tensor& tensor);
bool equal(const Tensor& a, const Tensor& b);

}  // namespace distrun
