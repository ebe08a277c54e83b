#pragma once
// The largest element under a window that moves over images [batch, channels, height, width].
#include <distrun/runtime/tensor/core/pair.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// The window and how it moves. A single number is for height and width.
struct Pool2dOptions {
  Pair window = 2;   // 1 or more
  Pair stride = 0;   // 1 or more; 0: same as the window
  Pair padding = 0;  // 0 to half of the window; never chosen
};

// The result of max_pool2d().
struct Pooled {
  Tensor values;   // the largest elements
  Tensor indices;  // int64: position in its plane
};

namespace plain {

// The batch may be empty, but not the images. Throws Error{InvalidArgument} otherwise, and if the window fits nowhere.
Pooled max_pool2d(const Tensor& input, const Pool2dOptions& options = {});
// Adds each value's gradient at its index; `indices` are max_pool2d's. On the CPU indices out of range throw.
Tensor max_pool2d_gradient(const Tensor& gradient, const Tensor& indices, const Dims& input_sizes);

}  // namespace plain
}  // namespace distrun::tensor
