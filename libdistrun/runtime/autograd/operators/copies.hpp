#pragma once
// Recorded copies to another layout, dtype or device. See <distrun/runtime/tensor/core/copy.hpp>.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun {

// Returns a contiguous copy with separate bytes; of a sparse tensor, copies of its indices and values.
Tensor clone(const Tensor& tensor);
// Returns the tensor itself if it is contiguous, otherwise a contiguous copy.
Tensor contiguous(const Tensor& tensor);
// Converts to another dtype or device; returns the tensor itself if nothing changes. Copies from a GPU to the CPU block
// until the bytes have arrived, except with `non_blocking`.
Tensor to(const Tensor& tensor, DType dtype);
Tensor to(const Tensor& tensor, Device device, bool non_blocking = false);
Tensor to(const Tensor& tensor, const TensorOptions& options, bool non_blocking = false);
Tensor cpu(const Tensor& tensor);   // to(tensor, the CPU)
Tensor cuda(const Tensor& tensor);  // to the current GPU
// Sets the elements of `out` from `from`, which is broadcast to its sizes and converted to its dtype; returns `out`.
// With `non_blocking` a copy between CPU and GPU returns early: later work on the GPU's current stream sees it, host
// code only after a synchronize. Throws Error{InvalidArgument} for sizes that do not fit.
Tensor copy_(const Tensor& out, const Tensor& from, bool non_blocking = false);

}  // namespace distrun
