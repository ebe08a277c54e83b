#pragma once
// Elementwise operators without a gradient formula, so that there are no recorded ones of their names: what optimizers
// compute with. Dtypes and sizes as elementwise.hpp says; none takes sparse tensors.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

Tensor sqrt(const Tensor& a);                      // integers become float32; exact to the last place
Tensor maximum(const Tensor& a, const Tensor& b);  // not a number if one of them is none

}  // namespace distrun::tensor::plain
