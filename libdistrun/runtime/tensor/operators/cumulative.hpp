#pragma once
// Sums and products along a dimension. Floating ones are made in double; of integers and truth values they are int64,
// which wraps.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

// Each element and all before it.
Tensor cumsum(const Tensor& tensor, std::int64_t dim);
// Each element and all behind it: the gradient of that.
Tensor cumsum_gradient(const Tensor& gradient, std::int64_t dim);

Tensor prod(const Tensor& tensor);  // of all; of none it is 1
Tensor prod_along(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);
template <Integer Int>
Tensor prod(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return prod_along(tensor, static_cast<std::int64_t>(dim), keep_dim);
}
// Each element's is the product of the others times the gradient, which has an element for each line.
Tensor prod_gradient(const Tensor& gradient, const Tensor& input, std::int64_t dim);

}  // namespace distrun::tensor::plain
