#pragma once
// Operators on images [batch, channels, height, width] for users.
#include <distrun/runtime/tensor/operators/convolution.hpp>
#include <distrun/runtime/tensor/operators/pooling.hpp>

namespace distrun {

using tensor::Conv2dOptions;
using tensor::Pool2dOptions;

Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias = {}, const Conv2dOptions& options = {});
Tensor max_pool2d(const Tensor& input, const Pool2dOptions& options = {});

}  // namespace distrun
