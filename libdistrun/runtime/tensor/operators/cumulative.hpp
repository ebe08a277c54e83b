#pragma once
// Sums and products along a dimension. Floating ones are computed in double; integers and bools give int64, which
// wraps.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

// Sums each element and all before it.
Tensor cumsum(const Tensor& tensor, std::int64_t dim);
// The gradient of cumsum(): sums each element and all after it.
Tensor cumsum_gradient(const Tensor& gradient, std::int64_t dim);

Tensor prod(const Tensor& tensor);  // of all elements; 1 if empty
// Returns the products along a dimension.
Tensor prod_along(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);
// Is prod_along().
template <Integer Int>
Tensor prod(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return prod_along(tensor, static_cast<std::int64_t>(dim), keep_dim);
}
// Returns for each element the product of the others times the line's gradient; `gradient` has one element per line.
Tensor prod_gradient(const Tensor& gradient, const Tensor& input, std::int64_t dim);

}  // namespace distrun::tensor::plain
