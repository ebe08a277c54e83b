#pragma once
// Builds the elementwise operators from kernels: checks dtypes, sizes and devices once for all of them.
#include <distrun/runtime/tensor/core/pointwise.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>
#include <distrun/runtime/tensor/kernels/table.hpp>

namespace distrun::tensor {

// An operator with two inputs that returns a new tensor; may take a constant in the dtype of the inputs.
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
Tensor unary(const UnaryOp& op, const Tensor& a, const Scalar& parameter);  // the parameter takes part in promotion
void unary_(const UnaryOp& op, const Tensor& a);
void unary_(const UnaryOp& op, const Tensor& a, const Scalar& parameter);

// A tensor, or a number instead of one.
struct TensorOrNumber {
  TensorOrNumber(const Tensor& tensor_) : tensor(&tensor_) {}
  TensorOrNumber(const Scalar& number_) : number(number_) {}

  const Tensor* tensor = nullptr;  // outlives this
  Scalar number;
};

// An operator with three inputs: a bool condition and two values, or three values of the result's dtype.
struct ChoiceOp {
  const char* name;
  kernels::Choice kernel;
  bool has_condition = false;
};
Tensor choice(const ChoiceOp& op, const Tensor& first, const TensorOrNumber& second, const TensorOrNumber& third,
              DType dtype);
// Changes `first` in place.
void choice_(const ChoiceOp& op, const Tensor& first, const Scalar& second, const Scalar& third, DType dtype);

}  // namespace distrun::tensor
