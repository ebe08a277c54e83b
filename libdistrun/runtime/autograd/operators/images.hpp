#pragma once
// Operators on images [batch, channels, height, width] for users.
#include <distrun/runtime/tensor/operators/convolution.hpp>
#include <distrun/runtime/tensor/operators/pooling.hpp>

namespace distrun {

using tensor::Conv2dOptions;
using tensor::Pool2dOptions;

// Convolves images with the weight [out channels, in channels, height, width] and adds the bias [out channels], which
// may be undefined. Returns [batch, out channels, (h + 2 padding - height) / stride + 1, the same of the width].
// Floating dtypes. Throws Error{InvalidArgument} for sizes that do not fit.
Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias = {}, const Conv2dOptions& options = {});
// Returns the largest element under each position of a window: [batch, channels, (h + 2 padding - window) / stride + 1,
// ...]. Throws Error{InvalidArgument} for empty images, and if the window fits nowhere.
Tensor max_pool2d(const Tensor& input, const Pool2dOptions& options = {});

}  // namespace distrun
