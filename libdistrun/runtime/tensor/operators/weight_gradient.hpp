#pragma once
// The gradient of a convolution's weight, without columns (convolution.cpp): several output channels at a time in
// vectors, summed place by place. Places may lie anywhere, so none are computed in vain, which saves much for small
// images.
#include <distrun/runtime/tensor/core/tensor.hpp>
#include <distrun/runtime/tensor/operators/convolution_sizes.hpp>

namespace distrun::tensor {

// Returns whether this pays off: channels and window elements are padded to whole vectors and panels.
bool is_weight_gradient_by_channels(const Geometry& geometry) noexcept;

// Takes contiguous tensors of one floating dtype. Sets all elements of `out`.
void make_weight_gradient(const Tensor& out, const Tensor& gradient, const Tensor& input, const Geometry& geometry);

}  // namespace distrun::tensor
