#pragma once
// Copies tensors: into other tensors, dtypes, devices and memory layouts. Copies between devices are ordered by
// streams: the GPU's current stream, or the current streams of both GPUs.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

// Returns a contiguous copy; for a sparse tensor, copies of its indices and values.
Tensor clone(const Tensor& tensor);
// Returns the tensor itself if it is contiguous.
Tensor contiguous(const Tensor& tensor);

// Return the tensor itself if nothing changes. Copies from a GPU to the CPU block until the bytes have arrived.
Tensor to(const Tensor& tensor, DType dtype);
Tensor to(const Tensor& tensor, Device device, bool non_blocking = false);
Tensor to(const Tensor& tensor, TensorOptions options, bool non_blocking = false);

// Sets the elements of `out` from `from`, which is broadcast to its sizes. With non_blocking a copy between CPU and GPU
// returns early: later work on the GPU's current stream sees it, host code only after a synchronize. Throws
// Error{InvalidArgument} for sizes that do not fit.
void copy_(const Tensor& out, const Tensor& from, bool non_blocking = false);

}  // namespace distrun::tensor::plain

namespace distrun::tensor {

// Returns the input, or a copy of it if writing the output would change elements of it that are still to be read.
Tensor apart(const Tensor& input, const Tensor& out);

}  // namespace distrun::tensor
