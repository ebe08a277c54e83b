#pragma once
// Copies: into other tensors, other dtypes, other devices, other orders of memory. Copies between devices are ordered
// by streams: on the GPU's current stream, and on both devices' current streams from GPU to GPU.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

// Contiguous; a sparse one has copies of indices and values.
Tensor clone(const Tensor& tensor);
// Itself if it is.
Tensor contiguous(const Tensor& tensor);

// Itself if nothing changes. From a GPU to the CPU they return when the bytes are there.
Tensor to(const Tensor& tensor, DType dtype);
Tensor to(const Tensor& tensor, Device device, bool non_blocking = false);
Tensor to(const Tensor& tensor, TensorOptions options, bool non_blocking = false);

// Sets the elements of `out`, to whose sizes `from` stretches. With non_blocking a copy between CPU and GPU returns
// before it is done: what comes later on the GPU's current stream sees it, host code only after a synchronize. Throws
// Error{InvalidArgument} for sizes that don't fit.
void copy_(const Tensor& out, const Tensor& from, bool non_blocking = false);

}  // namespace distrun::tensor::plain

namespace distrun::tensor {

// The input, or a copy of it if writing the output would change elements of it that are still to be read.
Tensor apart(const Tensor& input, const Tensor& out);

}  // namespace distrun::tensor
