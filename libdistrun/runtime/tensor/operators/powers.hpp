#pragma once
// Powers. Integers give integers, which wrap; tensor exponents below 0 give 1 / a, truncated to an integer. Bool is not
// supported.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

// Returns a to the power of b, elementwise.
Tensor pow(const Tensor& a, const Tensor& b);
// Exact for the exponents 2, 0.5 and -1. Throws Error{InvalidArgument} for integers with an integer exponent below 0.
Tensor pow(const Tensor& a, const Scalar& b);
Tensor pow(const Scalar& a, const Tensor& b);
Tensor square(const Tensor& a);  // pow(a, 2)

// Is pow() in place.
void pow_(const Tensor& a, const Tensor& b);
void pow_(const Tensor& a, const Scalar& b);

}  // namespace distrun::tensor::plain
