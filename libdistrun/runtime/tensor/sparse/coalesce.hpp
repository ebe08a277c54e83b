#pragma once
// Sums the entries of a sparse tensor that have the same place, and sorts all.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

Tensor coalesce(const Tensor& sparse);  // returns the tensor itself if it is coalesced

}  // namespace distrun::tensor::plain
