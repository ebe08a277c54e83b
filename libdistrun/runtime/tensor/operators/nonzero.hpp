#pragma once
// Where a tensor has something.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

// int64 [n, dimensions]: the index of each element other than 0, row by row. Waits for the device.
Tensor nonzero(const Tensor& tensor);

}  // namespace distrun::tensor::plain
