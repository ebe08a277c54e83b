#pragma once
// The dtype of a result whose operands have several.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// What tensors and numbers come to together: tensors with dimensions decide first, then those without, then numbers;
// the later ones only raise the kind (bool, integer, floating). A floating number beside integers makes float32.
DType result_type(const Tensor& a, const Tensor& b) noexcept;
DType result_type(const Tensor& a, const Scalar& b) noexcept;
// Of operators in place: throws Error{InvalidArgument} if the result is of a higher kind than the output, as floating
// numbers are for integers, and all numbers for bools.
void check_castable(const char* op, DType result, const Tensor& out);
// Of the factor of what is added, beside elements of `dtype`: 0.5 of integers would be 0, "true" of numbers is more
// likely an error than 1, and 300 of int8 would be 44. Throws Error{InvalidArgument}.
void check_factor(const char* op, DType dtype, const Scalar& alpha);

}  // namespace distrun::tensor
