#pragma once
// Convolutions without columns (convolution.cpp): of an image with its padding in place, the elements under one element
// of the window are a row of it that begins elsewhere. So the window's elements are the rows of a matrix that overlap,
// and the product is made where they are.
#include <distrun/runtime/tensor/core/tensor.hpp>
#include <distrun/runtime/tensor/operators/convolution_sizes.hpp>

namespace distrun::tensor {

// Whether that is worth it: rows of places are made with what is between them, and thrown away.
bool is_direct(const Geometry& geometry) noexcept;

// About how many cycles an element of the result costs.
double direct_cost(const Geometry& geometry) noexcept;

// Contiguous tensors of one floating dtype; the bias may be undefined. Sets all elements of `out`.
void convolve_directly(const Tensor& out, const Tensor& input, const Tensor& weight, const Tensor& bias,
                       const Geometry& geometry);

// The convolution of the result's gradient that makes the input's; only for a stride of 1 and a padding within the
// window. Its weight is the other's, turned: from the last to the first element, and channels the other way round.
Geometry turned(const Geometry& geometry) noexcept;
void convolve_turned(const Tensor& out, const Tensor& gradient, const Tensor& weight, const Geometry& turned_geometry);

}  // namespace distrun::tensor
