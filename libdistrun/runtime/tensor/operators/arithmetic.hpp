#pragma once
// How the elementwise operators are put together from kernels: dtypes, sizes and devices are checked here, once for all
// of them.
#include <distrun/runtime/tensor/core/pointwise.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>
#include <distrun/runtime/tensor/kernels/table.hpp>

namespace distrun::tensor {

// An operator of two inputs, from which results are `made`; with a constant in the dtype of the inputs.
struct BinaryOp {
  const char* name;
  kernels::Binary kernel;
  bool needs_floating = false;  // integers become float32
};

Tensor binary(const BinaryOp& op, const Tensor& a, const Tensor& b, const Scalar& parameter = 0);
Tensor binary(const BinaryOp& op, const Tensor& a, const Scalar& b, const Scalar& parameter = 0);
Tensor binary(const BinaryOp& op, const Scalar& a, const Tensor& b, const Scalar& parameter = 0);
void binary_(const BinaryOp& op, const Tensor& a, const Tensor& b, const Scalar& parameter = 0);
void binary_(const BinaryOp& op, const Tensor& a, const Scalar& b, const Scalar& parameter = 0);

struct ComparisonOp {
  const char* name;
  kernels::Comparison kernel;
};
Tensor compare(const ComparisonOp& op, const Tensor& a, const Tensor& b);
Tensor compare(const ComparisonOp& op, const Tensor& a, const Scalar& b);

struct UnaryOp {
  const char* name;
  kernels::Unary kernel;
  bool needs_floating = false;
};
Tensor unary(const UnaryOp& op, const Tensor& a);
Tensor unary(const UnaryOp& op, const Tensor& a, const Scalar& parameter);  // which takes part in promotion

}  // namespace distrun::tensor
