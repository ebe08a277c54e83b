#pragma once
// Rows of a tensor by number, where a row is everything behind the first dimension: what sparse tensors and embeddings
// are made of. Numbers are int64 [m], on the device of the rest, and are in range: that is the caller's to check.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// [m, ...]: the rows of `tensor` in the order of `numbers`.
Tensor take_rows(const Tensor& tensor, const Tensor& numbers);
// tensor[numbers[i]] += alpha values[i], one after the other. `tensor` is contiguous, `values` of its dtype. No change
// is counted.
void add_rows_(const Tensor& tensor, const Tensor& numbers, const Tensor& values, const Scalar& alpha = 1);
// tensor[to[i]] += factors[i] values[from[i]], in that way: rows that are taken, without a copy of them all. Undefined
// factors are 1, others have the dtype of the rest.
void add_taken_rows_(const Tensor& tensor, const Tensor& to, const Tensor& values, const Tensor& from,
                     const Tensor& factors);

// Throws Error{InvalidArgument} unless all of `numbers` are 0 .. count - 1; waits for the device.
void check_rows(const char* op, const Tensor& numbers, std::int64_t count);

}  // namespace distrun::tensor
