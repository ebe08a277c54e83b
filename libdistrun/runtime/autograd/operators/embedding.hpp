#pragma once
// Rows of a table, added up by bags, as users call it. <distrun/runtime/tensor/operators/embedding.hpp> says what it
// does.
#include <distrun/runtime/tensor/operators/embedding.hpp>

namespace distrun {

using tensor::BagMode;
using tensor::Bags;

// The table's gradient is dense, or sparse with an entry for each index; the factors' is dense.
Tensor embedding_bag(const Tensor& table, const Bags& bags, bool sparse_gradient = false);

}  // namespace distrun
