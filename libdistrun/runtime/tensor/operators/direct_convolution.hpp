#pragma once
// Convolutions without columns (convolution.cpp): with the padding in place, the image elements under one window
// element form a row that starts at that element's offset. So the window elements give overlapping rows of a matrix,
// which is multiplied in place.
#include <distrun/runtime/tensor/core/tensor.hpp>
#include <distrun/runtime/tensor/operators/convolution_sizes.hpp>

namespace distrun::tensor {

// Returns whether this pays off: gaps between rows of places are computed and discarded.
bool is_direct(const Geometry& geometry) noexcept;

// Takes contiguous tensors of one floating dtype; the bias may be undefined. Sets all elements of `out`.
void convolve_directly(const Tensor& out, const Tensor& input, const Tensor& weight, const Tensor& bias,
                       const Geometry& geometry);

// Returns the convolution that computes the input's gradient from the result's; requires stride 1 and a padding within
// the window. Its weight is reversed within the window, with input and output channels swapped.
Geometry turned(const Geometry& geometry) noexcept;
void convolve_turned(const Tensor& out, const Tensor& gradient, const Tensor& weight, const Geometry& turned_geometry);

}  // namespace distrun::tensor
