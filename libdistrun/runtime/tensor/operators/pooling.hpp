#pragma once
// The largest element under a window that moves over images [batch, channels, height, width].
#include <distrun/runtime/tensor/core/pair.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

struct Pool2dOptions {
  Pair window = 2;   // 1 or more
  Pair stride = 0;   // 1 or more; 0: the window's
  Pair padding = 0;  // 0 to half of the window; never the largest
};

struct Pooled {
  Tensor values;
  Tensor indices;  // int64: where in its plane each stood
};

namespace plain {

// There may be no images, but an image has elements. Throws Error{InvalidArgument} for others, and for a window that
// fits nowhere.
Pooled max_pool2d(const Tensor& input, const Pool2dOptions& options = {});
// The gradient of each value, where it stood; `indices` are those that max_pool2d gave. On the CPU others are refused.
Tensor max_pool2d_gradient(const Tensor& gradient, const Tensor& indices, const Dims& input_sizes);

}  // namespace plain
}  // namespace distrun::tensor
