#pragma once
// Powers. Of integers they are integers, which wrap; where their exponents are tensors, those below 0 make 1 / a, cut
// to an integer. None is for bool.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

Tensor pow(const Tensor& a, const Tensor& b);
// Exact for the exponents 2, 0.5 and -1. Throws Error{InvalidArgument} for integers with an integer exponent below 0.
Tensor pow(const Tensor& a, const Scalar& b);
Tensor pow(const Scalar& a, const Tensor& b);
Tensor square(const Tensor& a);  // pow(a, 2)

void pow_(const Tensor& a, const Tensor& b);
void pow_(const Tensor& a, const Scalar& b);

}  // namespace distrun::tensor::plain
