#pragma once
// The largest and the smallest, and where they stand. Of all dtypes. What is not a number wins over all numbers; of
// several that are the same the first is meant. Sizes of what is found: the dimension is gone, or has size 1 with
// keep_dim. Throws Error{InvalidArgument} where there is no element to choose from.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

struct Extremes {
  Tensor values;
  Tensor indices;  // int64: places along the dimension
};

namespace plain {

Tensor max(const Tensor& tensor);
Tensor min(const Tensor& tensor);
Extremes max_along(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);
Extremes min_along(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);
template <Integer Int>
Extremes max(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return max_along(tensor, static_cast<std::int64_t>(dim), keep_dim);
}
template <Integer Int>
Extremes min(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return min_along(tensor, static_cast<std::int64_t>(dim), keep_dim);
}

// Over several dimensions; none means all.
Tensor amax(const Tensor& tensor, const Dims& dims = {}, bool keep_dims = false);
Tensor amin(const Tensor& tensor, const Dims& dims = {}, bool keep_dims = false);
template <Integer Int>
Tensor amax(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return amax(tensor, Dims{static_cast<std::int64_t>(dim)}, keep_dim);
}
template <Integer Int>
Tensor amin(const Tensor& tensor, Int dim, bool keep_dim = false) {
  return amin(tensor, Dims{static_cast<std::int64_t>(dim)}, keep_dim);
}

// int64. Without a dimension: the place in the order of all elements.
Tensor argmax(const Tensor& tensor);
Tensor argmin(const Tensor& tensor);
Tensor argmax(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);
Tensor argmin(const Tensor& tensor, std::int64_t dim, bool keep_dim = false);

// Of amax() and amin(), and max() and min() of all: shared by all elements that are the result.
Tensor extremes_gradient(const Tensor& gradient, const Tensor& input, const Tensor& result, const Dims& dims);

}  // namespace plain
}  // namespace distrun::tensor
