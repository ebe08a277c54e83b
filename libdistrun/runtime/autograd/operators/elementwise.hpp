#pragma once
// Elementwise operators for users: recorded if an input needs a gradient. For semantics, broadcasting and promotion of
// dtypes see <distrun/runtime/tensor/operators/elementwise.hpp>, and choices.hpp and powers.hpp beside it. In-place
// forms return their first argument.
#include <optional>

#include <distrun/runtime/tensor/operators/elementwise.hpp>

namespace distrun {

Tensor add(const Tensor& a, const Tensor& b, const Scalar& alpha = 1);
Tensor add(const Tensor& a, const Scalar& b, const Scalar& alpha = 1);
Tensor sub(const Tensor& a, const Tensor& b, const Scalar& alpha = 1);
Tensor sub(const Tensor& a, const Scalar& b, const Scalar& alpha = 1);
Tensor rsub(const Scalar& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Scalar& b);
Tensor div(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Scalar& b);
Tensor rdiv(const Scalar& a, const Tensor& b);

Tensor neg(const Tensor& a);
Tensor cos(const Tensor& a);
Tensor sin(const Tensor& a);
Tensor sigmoid(const Tensor& a);
Tensor tanh(const Tensor& a);
Tensor exp(const Tensor& a);
Tensor log(const Tensor& a);
Tensor sqrt(const Tensor& a);
Tensor rsqrt(const Tensor& a);
Tensor reciprocal(const Tensor& a);
Tensor abs(const Tensor& a);
Tensor relu(const Tensor& a);
Tensor clamp_min(const Tensor& a, const Scalar& least);
Tensor clamp_max(const Tensor& a, const Scalar& largest);
// The gradient passes where the element is within the bounds or equals one.
Tensor clamp(const Tensor& a, const std::optional<Scalar>& least, const std::optional<Scalar>& largest = {});

Tensor pow(const Tensor& a, const Tensor& b);
Tensor pow(const Tensor& a, const Scalar& b);
Tensor pow(const Scalar& a, const Tensor& b);
Tensor square(const Tensor& a);

// Equal elements get half of the gradient each.
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& a, const Tensor& b);
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
Tensor where(const Tensor& condition, const Tensor& a, const Scalar& b);
Tensor where(const Tensor& condition, const Scalar& a, const Tensor& b);
Tensor where(const Tensor& condition, const Scalar& a, const Scalar& b);

// Sets each element to 0 with probability p, and multiplies the others by 1 / (1 - p). The choice is drawn from the
// default generator (<distrun/runtime/tensor/operators/random.hpp>), and is the same on every device. Returns the
// tensor itself if not training, or if p is 0. Throws Error{InvalidArgument} for p not from 0 to 1, and for dtypes that
// are not floating.
Tensor dropout(const Tensor& tensor, double p = 0.5, bool training = true);

Tensor add_(const Tensor& a, const Tensor& b, const Scalar& alpha = 1);
Tensor add_(const Tensor& a, const Scalar& b, const Scalar& alpha = 1);
Tensor sub_(const Tensor& a, const Tensor& b, const Scalar& alpha = 1);
Tensor sub_(const Tensor& a, const Scalar& b, const Scalar& alpha = 1);
Tensor mul_(const Tensor& a, const Tensor& b);
Tensor mul_(const Tensor& a, const Scalar& b);
Tensor div_(const Tensor& a, const Tensor& b);
Tensor div_(const Tensor& a, const Scalar& b);
Tensor pow_(const Tensor& a, const Tensor& b);
Tensor pow_(const Tensor& a, const Scalar& b);
Tensor neg_(const Tensor& a);
Tensor exp_(const Tensor& a);
Tensor tanh_(const Tensor& a);
Tensor sigmoid_(const Tensor& a);
Tensor sqrt_(const Tensor& a);
Tensor abs_(const Tensor& a);
Tensor relu_(const Tensor& a);
Tensor clamp_min_(const Tensor& a, const Scalar& least);
Tensor clamp_max_(const Tensor& a, const Scalar& largest);
Tensor clamp_(const Tensor& a, const std::optional<Scalar>& least, const std::optional<Scalar>& largest = {});
Tensor fill_(const Tensor& a, const Scalar& value);
Tensor zero_(const Tensor& a);

// These have no gradient.
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
Tensor logical_not(const Tensor& a);
Tensor logical_and(const Tensor& a, const Tensor& b);
Tensor logical_or(const Tensor& a, const Tensor& b);
Tensor logical_xor(const Tensor& a, const Tensor& b);
Tensor isnan(const Tensor& a);
Tensor isinf(const Tensor& a);
Tensor isfinite(const Tensor& a);

}  // namespace distrun
