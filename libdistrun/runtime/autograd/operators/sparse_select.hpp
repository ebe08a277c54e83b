#pragma once
// Parts of sparse gradients.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::autograd {

// The entries with that index in a sparse dimension, which is gone then. Waits for the device.
Tensor select_sparse(const Tensor& sparse, std::int64_t dim, std::int64_t index);

// What a dense tensor has where `like` has entries, put together.
Tensor entries_at(const Tensor& dense, const Tensor& like);

}  // namespace distrun::autograd
