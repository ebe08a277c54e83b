#pragma once
// Several tensors as one, as users call it. <distrun/runtime/tensor/operators/joining.hpp> says what each does.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun {

Tensor cat(const TensorList& tensors, std::int64_t dim = 0);
Tensor stack(const TensorList& tensors, std::int64_t dim = 0);

}  // namespace distrun
