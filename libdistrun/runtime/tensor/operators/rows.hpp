#pragma once
// Selects rows of a tensor by number, where a row spans all dimensions but the first: used by sparse tensors and
// embeddings. Numbers are int64 [m] on the same device; the caller checks that they are in range.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// Returns [m, ...]: the rows of `tensor` in the order of `numbers`.
Tensor take_rows(const Tensor& tensor, const Tensor& numbers);
// Computes tensor[numbers[i]] += alpha values[i], in order. `tensor` is contiguous, `values` has its dtype. Does not
// bump the version.
void add_rows_(const Tensor& tensor, const Tensor& numbers, const Tensor& values, const Scalar& alpha = 1);
// Computes tensor[to[i]] += factors[i] values[from[i]] in the same way, without copying the taken rows. Undefined
// factors are 1; others have the same dtype.
void add_taken_rows_(const Tensor& tensor, const Tensor& to, const Tensor& values, const Tensor& from,
                     const Tensor& factors);

// Throws Error{InvalidArgument} unless all `numbers` are 0 .. count - 1; waits for the device.
void check_rows(const char* op, const Tensor& numbers, std::int64_t count);

}  // namespace distrun::tensor
