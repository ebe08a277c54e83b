#pragma once
// Sums of rows of a table by bags. See <distrun/runtime/tensor/operators/embedding.hpp>.
#include <distrun/runtime/tensor/operators/embedding.hpp>

namespace distrun {

using tensor::BagMode;
using tensor::Bags;

// The table's gradient is dense, or sparse with an entry for each index; that of the weights is dense.
Tensor embedding_bag(const Tensor& table, const Bags& bags, bool sparse_gradient = false);

}  // namespace distrun
