#pragma once
// All sizes of one convolution, computed by its operators.
#include <cstdint>

namespace distrun::tensor {

struct Plane {
  std::int64_t height, width;
  std::int64_t count() const { return height * width; }
};

struct Geometry {
  std::int64_t batch, in_channels, out_channels;
  Plane in, window, out;
  Plane stride, padding;
  std::int64_t patch() const { return in_channels * window.count(); }  // elements under the window
  std::int64_t image() const { return in_channels * in.count(); }
  std::int64_t result() const { return out_channels * out.count(); }
};

}  // namespace distrun::tensor
