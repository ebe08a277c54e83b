#pragma once
// Prints tensors in the usual notation: "tensor([[1., 2.],\n        [3., 4.]], dtype=float64)".
#include <string>
#include <vector>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// Waits for the device. Beyond 1000 elements only the first and last three of each dimension are shown. `suffixes`
// follow those for device and dtype: "requires_grad=true".
std::string to_string(const Tensor& tensor, const std::vector<std::string>& suffixes = {});

}  // namespace distrun::tensor
