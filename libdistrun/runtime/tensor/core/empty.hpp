#pragma once
// Tensors with uninitialized elements.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

// Throws Error{InvalidArgument} for sizes that no memory can hold.
Tensor empty(const Dims& sizes, TensorOptions options = {});
template <OneOption Option>
Tensor empty(const Dims& sizes, Option option) {
  return empty(sizes, options_of(option));
}
// Returns a contiguous tensor with the same sizes, dtype and device; dense for a sparse one.
Tensor empty_like(const Tensor& tensor);

}  // namespace distrun::tensor::plain
