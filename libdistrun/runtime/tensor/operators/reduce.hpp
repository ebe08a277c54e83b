#pragma once
// Operators that put elements together. Sums of one tensor are the same number every time and on every machine;
// floating ones are made in double, integer and bool ones in int64, which wraps.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

// Of all elements, without dimensions. Floating dtypes stay, the others become int64. A sparse tensor's stored values.
Tensor sum(const Tensor& tensor);
// Over some dimensions; none means all. With keep_dims they stay, with size 1.
Tensor sum(const Tensor& tensor, const Dims& dims, bool keep_dims = false);
// What broadcasting stretched, summed up again: the gradient of expand(). Itself if the sizes are the same.
Tensor sum_to_size(const Tensor& tensor, const Dims& sizes);
Tensor mean(const Tensor& tensor);  // of floating ones

Tensor all(const Tensor& tensor);  // is every element other than 0? bool, without dimensions
// Same sizes and dtype and elements; not a number equals nothing. Waits for the device. Throws Error{InvalidArgument}
// for different devices. Sparse ones are compared after coalescing.
bool equal(const Tensor& a, const Tensor& b);

Tensor mse_loss(const Tensor& input, const Tensor& target);  // mean of the squared differences

}  // namespace distrun::tensor::plain
