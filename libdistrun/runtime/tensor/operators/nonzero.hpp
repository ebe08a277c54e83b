#pragma once
// Finds the elements other than 0.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

// Returns int64 [n, dimensions]: the index of each element other than 0, row by row. Waits for the device.
Tensor nonzero(const Tensor& tensor);

}  // namespace distrun::tensor::plain
