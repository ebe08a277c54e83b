#pragma once
// Elementwise operators with at least one sparse tensor. Dtypes are promoted as for dense tensors of the same sizes;
// elementwise.cpp has checked that the operator accepts the dtypes and alpha. `op` names it in errors.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// sparse + sparse is sparse and not coalesced; dense + sparse is dense.
Tensor add_sparse(const char* op, const Tensor& a, const Tensor& b, const Scalar& alpha);
void add_sparse_(const char* op, const Tensor& a, const Tensor& b, const Scalar& alpha);
// Keeps the entries that both have; the result is coalesced. With a dense tensor, keeps the entries of the sparse one.
Tensor mul_sparse(const Tensor& a, const Tensor& b);
Tensor mul_sparse(const Tensor& a, const Scalar& b);
void mul_sparse_(const Tensor& a, const Tensor& b);
void mul_sparse_(const Tensor& a, const Scalar& b);
// Divides by a number or a dense tensor without dimensions.
Tensor div_sparse(const Tensor& a, const Tensor& b);
Tensor div_sparse(const Tensor& a, const Scalar& b);
void div_sparse_(const Tensor& a, const Tensor& b);
void div_sparse_(const Tensor& a, const Scalar& b);
Tensor neg_sparse(const Tensor& a);

}  // namespace distrun::tensor
