#pragma once
// Entries of a sparse tensor at one place become one, their sum; and all are sorted.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

Tensor coalesce(const Tensor& sparse);  // itself if it is

}  // namespace distrun::tensor::plain
