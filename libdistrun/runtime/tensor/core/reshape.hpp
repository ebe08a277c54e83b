#pragma once
// Returns the same elements in another shape: a view if possible, otherwise a copy.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

// One size may be -1.
Tensor reshape(const Tensor& tensor, const Dims& sizes);
// Joins the dimensions first to last. Throws Error{InvalidArgument} if the first comes after the last.
Tensor flatten(const Tensor& tensor, std::int64_t first = 0, std::int64_t last = -1);

}  // namespace distrun::tensor::plain
