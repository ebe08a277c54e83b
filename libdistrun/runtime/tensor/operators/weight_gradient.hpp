#pragma once
// The gradient of a convolution's weight, without columns (convolution.cpp): as a convolution by channels
// (channel_convolution.hpp), in which elements of the window and places have changed their parts.
#include <distrun/runtime/tensor/core/tensor.hpp>
#include <distrun/runtime/tensor/operators/convolution_sizes.hpp>

namespace distrun::tensor {

// Whether that is worth it: channels and elements under the window are made up to whole vectors and panels.
bool is_weight_gradient_by_channels(const Geometry& geometry) noexcept;

// Contiguous tensors of one floating dtype. Sets all elements of `out`.
void make_weight_gradient(const Tensor& out, const Tensor& gradient, const Tensor& input, const Geometry& geometry);

}  // namespace distrun::tensor
