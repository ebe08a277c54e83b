#pragma once
// What the elementwise operators do with sparse tensors, where at least one is. Dtypes come to what those of dense
// tensors with the same sizes come to; whether an operator has such numbers and such an alpha, elementwise.cpp has
// checked. `op` names it in errors.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// sparse + sparse is sparse, its entries not yet put together; dense + sparse is dense.
Tensor add_sparse(const char* op, const Tensor& a, const Tensor& b, const Scalar& alpha);
void add_sparse_(const char* op, const Tensor& a, const Tensor& b, const Scalar& alpha);
// Entries that both have; the result is coalesced. With a dense one, the entries of the sparse one.
Tensor mul_sparse(const Tensor& a, const Tensor& b);
Tensor mul_sparse(const Tensor& a, const Scalar& b);
void mul_sparse_(const Tensor& a, const Tensor& b);
void mul_sparse_(const Tensor& a, const Scalar& b);
// By a number, or a dense tensor without dimensions.
Tensor div_sparse(const Tensor& a, const Tensor& b);
Tensor div_sparse(const Tensor& a, const Scalar& b);
void div_sparse_(const Tensor& a, const Tensor& b);
void div_sparse_(const Tensor& a, const Scalar& b);
Tensor neg_sparse(const Tensor& a);

}  // namespace distrun::tensor
