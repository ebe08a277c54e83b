#pragma once
// Elementwise operators. Tensors are broadcast and dtypes promoted; a number only contributes its kind. In-place forms
// end in `_`: they keep sizes and dtype of the first tensor, throw if the result does not fit, and bump the version.
// sparse_ops.hpp lists the operators for sparse tensors; sqrt(), abs() and tanh() coalesce a sparse tensor and apply to
// its entries.
#include <distrun/runtime/tensor/core/promotion.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

namespace plain {

Tensor add(const Tensor& a, const Tensor& b, const Scalar& alpha = 1);  // a + alpha b
Tensor add(const Tensor& a, const Scalar& b, const Scalar& alpha = 1);
Tensor sub(const Tensor& a, const Tensor& b, const Scalar& alpha = 1);
Tensor sub(const Tensor& a, const Scalar& b, const Scalar& alpha = 1);
Tensor rsub(const Scalar& a, const Tensor& b);  // a - b
Tensor mul(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Scalar& b);
// True division: integers give float32.
Tensor div(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Scalar& b);
Tensor rdiv(const Scalar& a, const Tensor& b);  // a / b

void add_(const Tensor& a, const Tensor& b, const Scalar& alpha = 1);
void add_(const Tensor& a, const Scalar& b, const Scalar& alpha = 1);
void sub_(const Tensor& a, const Tensor& b, const Scalar& alpha = 1);
void sub_(const Tensor& a, const Scalar& b, const Scalar& alpha = 1);
void mul_(const Tensor& a, const Tensor& b);
void mul_(const Tensor& a, const Scalar& b);
void div_(const Tensor& a, const Tensor& b);
void div_(const Tensor& a, const Scalar& b);

Tensor neg(const Tensor& a);
Tensor cos(const Tensor& a);  // integers become float32, as for sin and sigmoid
Tensor sin(const Tensor& a);
Tensor sigmoid(const Tensor& a);
Tensor exp(const Tensor& a);
Tensor log(const Tensor& a);
Tensor tanh(const Tensor& a);
Tensor sqrt(const Tensor& a);   // correctly rounded
Tensor rsqrt(const Tensor& a);  // 1 / sqrt(a)
Tensor reciprocal(const Tensor& a);
Tensor abs(const Tensor& a);
Tensor maximum(const Tensor& a, const Tensor& b);  // NaN if either is NaN
Tensor minimum(const Tensor& a, const Tensor& b);
Tensor clamp_min(const Tensor& a, const Scalar& least);  // NaN stays NaN; a NaN bound makes all elements NaN
Tensor clamp_max(const Tensor& a, const Scalar& largest);
Tensor relu(const Tensor& a);  // clamp_min(a, 0)

void neg_(const Tensor& a);
void exp_(const Tensor& a);
void tanh_(const Tensor& a);
void sigmoid_(const Tensor& a);
void sqrt_(const Tensor& a);
void abs_(const Tensor& a);
void clamp_min_(const Tensor& a, const Scalar& least);
void clamp_max_(const Tensor& a, const Scalar& largest);
void relu_(const Tensor& a);

void fill_(const Tensor& a,
           const Scalar& value);  // throws Error{InvalidArgument} if the number does not fit
void zero_(const Tensor& a);

// Return bool tensors.
Tensor eq(const Tensor& a, const Tensor& b);
Tensor eq(const Tensor& a, const Scalar& b);
Tensor ne(const Tensor& a, const Tensor& b);
Tensor ne(const Tensor& a, const Scalar& b);
Tensor lt(const Tensor& a, const Tensor& b);
Tensor lt(const Tensor& a, const Scalar& b);
Tensor le(const Tensor& a, const Tensor& b);
Tensor le(const Tensor& a, const Scalar& b);
Tensor gt(const Tensor& a, const Tensor& b);
Tensor gt(const Tensor& a, const Scalar& b);
Tensor ge(const Tensor& a, const Tensor& b);
Tensor ge(const Tensor& a, const Scalar& b);

// Numbers are true unless they are 0.
Tensor logical_not(const Tensor& a);
Tensor logical_and(const Tensor& a, const Tensor& b);
Tensor logical_or(const Tensor& a, const Tensor& b);
Tensor logical_xor(const Tensor& a, const Tensor& b);
// Integers are finite.
Tensor isnan(const Tensor& a);
Tensor isinf(const Tensor& a);
Tensor isfinite(const Tensor& a);

// Parts of gradients.
Tensor sigmoid_backward(const Tensor& gradient, const Tensor& result);
// Returns the gradient where the input exceeds the threshold, otherwise 0.
Tensor threshold_backward(const Tensor& gradient, const Tensor& input, const Scalar& threshold);
// Returns the gradient where the input is at least `least`, otherwise 0.
Tensor clamp_min_backward(const Tensor& gradient, const Tensor& input, const Scalar& least);
// Returns the gradient where the input is at most `largest`, otherwise 0.
Tensor clamp_max_backward(const Tensor& gradient, const Tensor& input, const Scalar& largest);
Tensor tanh_backward(const Tensor& gradient, const Tensor& result);
// Returns the gradient with the input's sign, 0 where the input is 0.
Tensor abs_backward(const Tensor& gradient, const Tensor& input);

}  // namespace plain
}  // namespace distrun::tensor
