#pragma once
// Elementwise operators as users call them: recorded if an input needs a gradient. What they compute, how tensors
// stretch and dtypes are promoted: <distrun/runtime/tensor/operators/elementwise.hpp>. In-place forms return their
// first argument.
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
Tensor relu(const Tensor& a);
Tensor clamp_min(const Tensor& a, const Scalar& least);

Tensor add_(const Tensor& a, const Tensor& b, const Scalar& alpha = 1);
Tensor add_(const Tensor& a, const Scalar& b, const Scalar& alpha = 1);
Tensor sub_(const Tensor& a, const Tensor& b, const Scalar& alpha = 1);
Tensor sub_(const Tensor& a, const Scalar& b, const Scalar& alpha = 1);
Tensor mul_(const Tensor& a, const Tensor& b);
Tensor mul_(const Tensor& a, const Scalar& b);
Tensor div_(const Tensor& a, const Tensor& b);
Tensor div_(const Tensor& a, const Scalar& b);
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

}  // namespace distrun

// Where the compiler looks for operators of a Tensor.
namespace distrun::tensor {

inline Tensor operator+(const Tensor& a, const Tensor& b) { return distrun::add(a, b); }
inline Tensor operator+(const Tensor& a, const Scalar& b) { return distrun::add(a, b); }
inline Tensor operator+(const Scalar& a, const Tensor& b) { return distrun::add(b, a); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return distrun::sub(a, b); }
inline Tensor operator-(const Tensor& a, const Scalar& b) { return distrun::sub(a, b); }
inline Tensor operator-(const Scalar& a, const Tensor& b) { return distrun::rsub(a, b); }
inline Tensor operator-(const Tensor& a) { return distrun::neg(a); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return distrun::mul(a, b); }
inline Tensor operator*(const Tensor& a, const Scalar& b) { return distrun::mul(a, b); }
inline Tensor operator*(const Scalar& a, const Tensor& b) { return distrun::mul(b, a); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return distrun::div(a, b); }
inline Tensor operator/(const Tensor& a, const Scalar& b) { return distrun::div(a, b); }
inline Tensor operator/(const Scalar& a, const Tensor& b) { return distrun::rdiv(a, b); }

}  // namespace distrun::tensor
