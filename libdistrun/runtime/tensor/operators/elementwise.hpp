#pragma once
// Elementwise operators. Tensors are broadcast and dtypes promoted; a number only contributes its kind. In-place forms
// end in `_`: they keep sizes and dtype of the first tensor, throw if the result does not fit, and bump the version.
// sparse_ops.hpp lists the operators for sparse tensors; sqrt(), abs() and tanh() coalesce a sparse tensor and apply to
// its entries.
#include <distrun/runtime/tensor/core/promotion.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

namespace plain {

// These throw Error{InvalidArgument} for sizes that do not broadcast, tensors on different devices (a CPU tensor
// without dimensions counts as a number), and an alpha that the dtype cannot hold.
Tensor add(const Tensor& a, const Tensor& b, const Scalar& alpha = 1);  // a + alpha b
Tensor add(const Tensor& a, const Scalar& b, const Scalar& alpha = 1);
Tensor sub(const Tensor& a, const Tensor& b, const Scalar& alpha = 1);  // a - alpha b; not for bool
Tensor sub(const Tensor& a, const Scalar& b, const Scalar& alpha = 1);
Tensor rsub(const Scalar& a, const Tensor& b);  // a - b
Tensor mul(const Tensor& a, const Tensor& b);   // a b
Tensor mul(const Tensor& a, const Scalar& b);
// a / b. Integers and bools give float32.
Tensor div(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Scalar& b);
Tensor rdiv(const Scalar& a, const Tensor& b);  // a / b

// These change a. They throw Error{InvalidArgument} if the result is of a higher kind than a, or of other sizes.
void add_(const Tensor& a, const Tensor& b, const Scalar& alpha = 1);  // a + alpha b
void add_(const Tensor& a, const Scalar& b, const Scalar& alpha = 1);
void sub_(const Tensor& a, const Tensor& b, const Scalar& alpha = 1);  // a - alpha b; not for bool
void sub_(const Tensor& a, const Scalar& b, const Scalar& alpha = 1);
void mul_(const Tensor& a, const Tensor& b);  // a b
void mul_(const Tensor& a, const Scalar& b);
void div_(const Tensor& a, const Tensor& b);  // a / b; not for integers
void div_(const Tensor& a, const Scalar& b);

// These return a tensor of the same sizes and dtype; integers and bools become float32 where the result is not an
// integer.
Tensor neg(const Tensor& a);                               // -a; not for bool
Tensor cos(const Tensor& a);                               // integers become float32, as for sin and sigmoid
Tensor sin(const Tensor& a);                               // in radians
Tensor sigmoid(const Tensor& a);                           // 1 / (1 + exp(-a))
Tensor exp(const Tensor& a);                               // e to the power of a
Tensor log(const Tensor& a);                               // the natural logarithm
Tensor tanh(const Tensor& a);                              // the hyperbolic tangent
Tensor sqrt(const Tensor& a);                              // correctly rounded
Tensor rsqrt(const Tensor& a);                             // 1 / sqrt(a)
Tensor reciprocal(const Tensor& a);                        // 1 / a
Tensor abs(const Tensor& a);                               // |a|
Tensor maximum(const Tensor& a, const Tensor& b);          // NaN if either is NaN
Tensor minimum(const Tensor& a, const Tensor& b);          // NaN if either is NaN
Tensor clamp_min(const Tensor& a, const Scalar& least);    // NaN stays NaN; a NaN bound makes all elements NaN
Tensor clamp_max(const Tensor& a, const Scalar& largest);  // min(a, largest); NaN as for clamp_min
Tensor relu(const Tensor& a);                              // clamp_min(a, 0)

// These change a. They throw Error{InvalidArgument} for integers where the result is not an integer.
void neg_(const Tensor& a);                               // -a
void exp_(const Tensor& a);                               // e to the power of a
void tanh_(const Tensor& a);                              // the hyperbolic tangent
void sigmoid_(const Tensor& a);                           // 1 / (1 + exp(-a))
void sqrt_(const Tensor& a);                              // the square root
void abs_(const Tensor& a);                               // |a|
void clamp_min_(const Tensor& a, const Scalar& least);    // max(a, least)
void clamp_max_(const Tensor& a, const Scalar& largest);  // min(a, largest)
void relu_(const Tensor& a);                              // max(a, 0)

void fill_(const Tensor& a,
           const Scalar& value);  // throws Error{InvalidArgument} if the number does not fit
void zero_(const Tensor& a);      // sets all elements to 0

// These return bool tensors.
Tensor eq(const Tensor& a, const Tensor& b);  // a == b
Tensor eq(const Tensor& a, const Scalar& b);
Tensor ne(const Tensor& a, const Tensor& b);  // a != b
Tensor ne(const Tensor& a, const Scalar& b);
Tensor lt(const Tensor& a, const Tensor& b);  // a < b
Tensor lt(const Tensor& a, const Scalar& b);
Tensor le(const Tensor& a, const Tensor& b);  // a <= b
Tensor le(const Tensor& a, const Scalar& b);
Tensor gt(const Tensor& a, const Tensor& b);  // a > b
Tensor gt(const Tensor& a, const Scalar& b);
Tensor ge(const Tensor& a, const Tensor& b);  // a >= b
Tensor ge(const Tensor& a, const Scalar& b);

// These return bool tensors. Numbers count as true unless they are 0.
Tensor logical_not(const Tensor& a);                   // not a
Tensor logical_and(const Tensor& a, const Tensor& b);  // a and b
Tensor logical_or(const Tensor& a, const Tensor& b);   // a or b
Tensor logical_xor(const Tensor& a, const Tensor& b);  // either a or b

// These return bool tensors. Integers are finite.
Tensor isnan(const Tensor& a);     // NaN elements
Tensor isinf(const Tensor& a);     // infinite elements of either sign
Tensor isfinite(const Tensor& a);  // neither infinite nor NaN

// Returns gradient result (1 - result), for the result of sigmoid().
Tensor sigmoid_backward(const Tensor& gradient, const Tensor& result);
// Returns the gradient where the input exceeds the threshold, otherwise 0.
Tensor threshold_backward(const Tensor& gradient, const Tensor& input, const Scalar& threshold);
// Returns the gradient where the input is at least `least`, otherwise 0.
Tensor clamp_min_backward(const Tensor& gradient, const Tensor& input, const Scalar& least);
// Returns the gradient where the input is at most `largest`, otherwise 0.
Tensor clamp_max_backward(const Tensor& gradient, const Tensor& input, const Scalar& largest);
// Returns gradient (1 - result^2), for the result of tanh().
Tensor tanh_backward(const Tensor& gradient, const Tensor& result);
// Returns the gradient with the input's sign, 0 where the input is 0.
Tensor abs_backward(const Tensor& gradient, const Tensor& input);

}  // namespace plain
}  // namespace distrun::tensor
