#pragma once
// Recorded copies to another layout, dtype or device. See <distrun/runtime/tensor/core/copy.hpp>.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun {

Tensor clone(const Tensor& tensor);
Tensor contiguous(const Tensor& tensor);
// Return the tensor itself if nothing changes.
Tensor to(const Tensor& tensor, DType dtype);
Tensor to(const Tensor& tensor, Device device, bool non_blocking = false);
Tensor to(const Tensor& tensor, const TensorOptions& options, bool non_blocking = false);
Tensor cpu(const Tensor& tensor);
Tensor cuda(const Tensor& tensor);  // to the current GPU
// Returns `out`.
Tensor copy_(const Tensor& out, const Tensor& from, bool non_blocking = false);

}  // namespace distrun
