#pragma once
// The largest element under a window that moves over images [batch, channels, height, width].
#include <array>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

struct Pool2dOptions {
  std::array<std::int64_t, 2> window{2, 2};   // of height and width
  std::array<std::int64_t, 2> stride{0, 0};   // 0: the window's
  std::array<std::int64_t, 2> padding{0, 0};  // at most half of the window; never the largest
};

struct Pooled {
  Tensor values;
  Tensor indices;  // int64: where in its plane each stood
};

namespace plain {

Pooled max_pool2d(const Tensor& input, const Pool2dOptions& options = {});
// The gradient of each value, where it stood.
Tensor max_pool2d_gradient(const Tensor& gradient, const Tensor& indices, const Dims& input_sizes);

}  // namespace plain
}  // namespace distrun::tensor
