#pragma once
// Convolutions that compute several output channels at a time in vectors, place by place. Places may lie anywhere, so
// none are computed in vain, which saves much for small images. The input's gradient is such a convolution too, with a
// different part of the window for each remainder of the stride.
#include <distrun/runtime/tensor/core/tensor.hpp>
#include <distrun/runtime/tensor/operators/convolution_sizes.hpp>

namespace distrun::tensor {

// Returns whether this pays off: channels must fill vectors.
bool is_by_channels(const Geometry& geometry) noexcept;

// Takes contiguous tensors of one floating dtype; the bias may be undefined. Sets all elements of `out`.
void convolve_by_channels(const Tensor& out, const Tensor& input, const Tensor& weight, const Tensor& bias,
                          const Geometry& geometry);

// Computes the input's gradient from the result's. For windows that are at least as large as the stride.
bool is_input_gradient_by_channels(const Geometry& geometry) noexcept;
void make_input_gradient(const Tensor& out, const Tensor& gradient, const Tensor& weight, const Geometry& geometry);

}  // namespace distrun::tensor
