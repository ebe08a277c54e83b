#pragma once
// Convolutions of images [batch, channels, height, width] and their gradients. Floating dtypes.
#include <distrun/runtime/tensor/core/pair.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// How the window moves. A single number is for height and width.
struct Conv2dOptions {
  Pair stride = 1;   // 1 or more
  Pair padding = 0;  // zeros on each side, 0 or more
};

namespace plain {

// Weight [out channels, in channels, height, width], bias [out channels] or undefined. The batch or the channels may be
// empty. Throws Error{InvalidArgument} for sizes that do not fit.
Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options = {});
// Returns the gradient of the input, of sizes `input_sizes`; `gradient` has those of the result.
Tensor conv2d_input_gradient(const Tensor& gradient, const Tensor& weight, const Dims& input_sizes,
                             const Conv2dOptions& options = {});
// Returns the gradient of the weight, in the same way.
Tensor conv2d_weight_gradient(const Tensor& gradient, const Tensor& input, const Dims& weight_sizes,
                              const Conv2dOptions& options = {});
// The bias's gradient is sum(gradient, {0, 2, 3}).

}  // namespace plain
}  // namespace distrun::tensor
