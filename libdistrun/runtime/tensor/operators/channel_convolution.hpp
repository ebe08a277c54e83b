#pragma once
// Convolutions whose results are made for some channels at a time, side by side in vectors, place by place. Places may
// lie anywhere, so none are made that nobody needs, which is much for small images; and what makes the input's gradient
// is such a convolution as well, with another part of the window for each remainder that the stride leaves.
#include <distrun/runtime/tensor/core/tensor.hpp>
#include <distrun/runtime/tensor/operators/convolution_sizes.hpp>

namespace distrun::tensor {

// Whether that is worth it: channels fill vectors.
bool is_by_channels(const Geometry& geometry) noexcept;

// Contiguous tensors of one floating dtype; the bias may be undefined. Sets all elements of `out`.
void convolve_by_channels(const Tensor& out, const Tensor& input, const Tensor& weight, const Tensor& bias,
                          const Geometry& geometry);

// The input's gradient, from the result's. For windows that are at least as large as the stride.
bool is_input_gradient_by_channels(const Geometry& geometry) noexcept;
void make_input_gradient(const Tensor& out, const Tensor& gradient, const Tensor& weight, const Geometry& geometry);

}  // namespace distrun::tensor
