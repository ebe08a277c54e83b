#pragma once
// Tensors whose elements are not set.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

// Throws Error{InvalidArgument} for sizes that no memory has.
Tensor empty(const Dims& sizes, TensorOptions options = {});
template <OneOption Option>
Tensor empty(const Dims& sizes, Option option) {
  return empty(sizes, options_of(option));
}
// Same sizes, dtype and device, contiguous; a sparse one densifies.
Tensor empty_like(const Tensor& tensor);

}  // namespace distrun::tensor::plain
