#pragma once
// Elementwise operators for users: recorded if an input needs a gradient. For semantics, broadcasting and promotion of
// dtypes see <distrun/runtime/tensor/operators/elementwise.hpp>, and choices.hpp and powers.hpp beside it. In-place
// forms return their first argument.
#include <optional>

#include <distrun/runtime/tensor/operators/elementwise.hpp>

namespace distrun {

// These return a tensor of the broadcast sizes and the promoted dtype, tensor::promote(). They throw
// Error{InvalidArgument} for sizes that do not broadcast, tensors on different devices (a CPU tensor without dimensions
// counts as a number), and an alpha that the dtype cannot hold.
Tensor add(const Tensor& a, const Tensor& b, const Scalar& alpha = 1);  // a + alpha b
Tensor add(const Tensor& a, const Scalar& b, const Scalar& alpha = 1);
Tensor sub(const Tensor& a, const Tensor& b, const Scalar& alpha = 1);  // a - alpha b; not for bool
Tensor sub(const Tensor& a, const Scalar& b, const Scalar& alpha = 1);
Tensor rsub(const Scalar& a, const Tensor& b);  // a - b; not for bool
Tensor mul(const Tensor& a, const Tensor& b);   // a b
Tensor mul(const Tensor& a, const Scalar& b);
Tensor div(const Tensor& a, const Tensor& b);  // a / b; integers and bools give float32
Tensor div(const Tensor& a, const Scalar& b);
Tensor rdiv(const Scalar& a, const Tensor& b);  // a / b

// These return a tensor of the same sizes and dtype; integers and bools become float32 where the result is not an
// integer (cos to reciprocal). NaN elements stay NaN.
Tensor neg(const Tensor& a);                               // -a; not for bool
Tensor cos(const Tensor& a);                               // in radians
Tensor sin(const Tensor& a);                               // in radians
Tensor sigmoid(const Tensor& a);                           // 1 / (1 + exp(-a))
Tensor tanh(const Tensor& a);                              // the hyperbolic tangent
Tensor exp(const Tensor& a);                               // e to the power of a
Tensor log(const Tensor& a);                               // the natural logarithm; -inf for 0, NaN below 0
Tensor sqrt(const Tensor& a);                              // correctly rounded; NaN below 0
Tensor rsqrt(const Tensor& a);                             // 1 / sqrt(a)
Tensor reciprocal(const Tensor& a);                        // 1 / a
Tensor abs(const Tensor& a);                               // |a|
Tensor relu(const Tensor& a);                              // max(a, 0); not for bool
Tensor clamp_min(const Tensor& a, const Scalar& least);    // max(a, least)
Tensor clamp_max(const Tensor& a, const Scalar& largest);  // min(a, largest)
// min(max(a, least), largest). The gradient passes where the element is within the bounds or equals one. Throws
// Error{InvalidArgument} without a bound, and for a bound that the dtype cannot hold.
Tensor clamp(const Tensor& a, const std::optional<Scalar>& least, const std::optional<Scalar>& largest = {});

// a to the power of b. Integers give integers, which wrap; not for bool. Throws Error{InvalidArgument} for an integer
// tensor and a negative integer number.
Tensor pow(const Tensor& a, const Tensor& b);
Tensor pow(const Tensor& a, const Scalar& b);
Tensor pow(const Scalar& a, const Tensor& b);
Tensor square(const Tensor& a);  // pow(a, 2)

// The larger of two elements; NaN if either is. Equal elements get half of the gradient each.
Tensor maximum(const Tensor& a, const Tensor& b);
// The smaller of two elements; NaN if either is. Equal elements get half of the gradient each.
Tensor minimum(const Tensor& a, const Tensor& b);
// Elements of a where the bool condition is true, and of b elsewhere. All are broadcast. Throws Error{InvalidArgument}
// for a condition of another dtype, and for a number that the dtype of the result cannot hold.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
Tensor where(const Tensor& condition, const Tensor& a, const Scalar& b);
Tensor where(const Tensor& condition, const Scalar& a, const Tensor& b);
Tensor where(const Tensor& condition, const Scalar& a, const Scalar& b);

// Sets each element to 0 with probability p, and multiplies the others by 1 / (1 - p). The choice is drawn from the
// default generator (<distrun/runtime/tensor/operators/random.hpp>), and is the same on every device. Returns the
// tensor itself if not training, or if p is 0. Throws Error{InvalidArgument} for p not from 0 to 1, and for dtypes that
// are not floating.
Tensor dropout(const Tensor& tensor, double p = 0.5, bool training = true);

// These change `a`, which keeps its sizes and its dtype, and return it. They throw Error{InvalidArgument} for a result
// that a cannot hold: other sizes, or floating numbers in integers; and, while recording, for a leaf that requires a
// gradient and for a view of one.
Tensor add_(const Tensor& a, const Tensor& b, const Scalar& alpha = 1);  // a + alpha b
Tensor add_(const Tensor& a, const Scalar& b, const Scalar& alpha = 1);
Tensor sub_(const Tensor& a, const Tensor& b, const Scalar& alpha = 1);  // a - alpha b; not for bool
Tensor sub_(const Tensor& a, const Scalar& b, const Scalar& alpha = 1);
Tensor mul_(const Tensor& a, const Tensor& b);  // a b
Tensor mul_(const Tensor& a, const Scalar& b);
Tensor div_(const Tensor& a, const Tensor& b);  // a / b; not for integers
Tensor div_(const Tensor& a, const Scalar& b);
Tensor pow_(const Tensor& a, const Tensor& b);  // a to the power of b
Tensor pow_(const Tensor& a, const Scalar& b);
Tensor neg_(const Tensor& a);                               // -a
Tensor exp_(const Tensor& a);                               // e to the power of a
Tensor tanh_(const Tensor& a);                              // the hyperbolic tangent
Tensor sigmoid_(const Tensor& a);                           // 1 / (1 + exp(-a))
Tensor sqrt_(const Tensor& a);                              // the square root
Tensor abs_(const Tensor& a);                               // |a|
Tensor relu_(const Tensor& a);                              // max(a, 0)
Tensor clamp_min_(const Tensor& a, const Scalar& least);    // max(a, least)
Tensor clamp_max_(const Tensor& a, const Scalar& largest);  // min(a, largest)
// min(max(a, least), largest)
Tensor clamp_(const Tensor& a, const std::optional<Scalar>& least, const std::optional<Scalar>& largest = {});
Tensor fill_(const Tensor& a, const Scalar& value);  // the value; throws if the dtype cannot hold it
Tensor zero_(const Tensor& a);                       // 0

// These return a bool tensor of the broadcast sizes and have no gradient. Numbers count as true unless they are 0.
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
Tensor logical_not(const Tensor& a);                   // not a
Tensor logical_and(const Tensor& a, const Tensor& b);  // a and b
Tensor logical_or(const Tensor& a, const Tensor& b);   // a or b
Tensor logical_xor(const Tensor& a, const Tensor& b);  // either a or b
Tensor isnan(const Tensor& a);                         // false for integers
Tensor isinf(const Tensor& a);                         // infinite, of either sign; false for integers
Tensor isfinite(const Tensor& a);                      // neither infinite nor NaN; true for integers

}  // namespace distrun
