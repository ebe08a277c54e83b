#pragma once
// The dtype of a result of several operands.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// Promotes tensors and numbers: tensors with dimensions decide first, then those without, then numbers; later groups
// only raise the kind (bool, integer, floating). A floating number with integer tensors gives float32.
DType result_type(const Tensor& a, const Tensor& b) noexcept;
DType result_type(const Tensor& a, const Scalar& b) noexcept;
// Checks an in-place operator. Throws Error{InvalidArgument} if the result is of a higher kind than the output:
// floating numbers into integers, or any numbers into bools.
void check_castable(const char* op, DType result, const Tensor& out);
// Checks the factor of an addend for elements of `dtype`. Throws Error{InvalidArgument} for 0.5 with integers (would be
// 0), "true" with numbers (more likely an error than 1), or 300 with int8 (would be 44).
void check_factor(const char* op, DType dtype, const Scalar& alpha);

}  // namespace distrun::tensor
