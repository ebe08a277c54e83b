#pragma once
// Operators as symbols: a + b, 2 * x, -x, x += y, x < y. Each calls its namesake in elementwise.hpp; comparisons return
// tensors of bool, so use all(a == b) for one answer. They are in the namespace where the compiler looks for operators
// of a Tensor.
#include <distrun/runtime/autograd/operators/elementwise.hpp>

namespace distrun::tensor {

// These are neg(), add(), sub(), mul() and div().
inline Tensor operator-(const Tensor& a) { return distrun::neg(a); }
inline Tensor operator+(const Tensor& a, const Tensor& b) { return distrun::add(a, b); }
inline Tensor operator+(const Tensor& a, const Scalar& b) { return distrun::add(a, b); }
inline Tensor operator+(const Scalar& a, const Tensor& b) { return distrun::add(b, a); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return distrun::sub(a, b); }
inline Tensor operator-(const Tensor& a, const Scalar& b) { return distrun::sub(a, b); }
inline Tensor operator-(const Scalar& a, const Tensor& b) { return distrun::rsub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return distrun::mul(a, b); }
inline Tensor operator*(const Tensor& a, const Scalar& b) { return distrun::mul(a, b); }
inline Tensor operator*(const Scalar& a, const Tensor& b) { return distrun::mul(b, a); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return distrun::div(a, b); }
inline Tensor operator/(const Tensor& a, const Scalar& b) { return distrun::div(a, b); }
inline Tensor operator/(const Scalar& a, const Tensor& b) { return distrun::rdiv(a, b); }

// These combine masks of bool. They throw Error{InvalidArgument} for other dtypes, where they would combine bits.
Tensor operator&(const Tensor& a, const Tensor& b);
Tensor operator|(const Tensor& a, const Tensor& b);
Tensor operator^(const Tensor& a, const Tensor& b);
Tensor operator~(const Tensor& a);
inline Tensor operator!(const Tensor& a) { return distrun::logical_not(a); }

// These are add_(), sub_(), mul_() and div_(): in place, so all handles and views of `a` see the change. So const
// handles, and x[0] += y, can be written to.
inline const Tensor& operator+=(const Tensor& a, const Tensor& b) { return distrun::add_(a, b), a; }
inline const Tensor& operator+=(const Tensor& a, const Scalar& b) { return distrun::add_(a, b), a; }
inline const Tensor& operator-=(const Tensor& a, const Tensor& b) { return distrun::sub_(a, b), a; }
inline const Tensor& operator-=(const Tensor& a, const Scalar& b) { return distrun::sub_(a, b), a; }
inline const Tensor& operator*=(const Tensor& a, const Tensor& b) { return distrun::mul_(a, b), a; }
inline const Tensor& operator*=(const Tensor& a, const Scalar& b) { return distrun::mul_(a, b), a; }
inline const Tensor& operator/=(const Tensor& a, const Tensor& b) { return distrun::div_(a, b), a; }
inline const Tensor& operator/=(const Tensor& a, const Scalar& b) { return distrun::div_(a, b), a; }

// A comparison with a number on the left is reversed.
#define DISTRUN_COMPARISON(symbol, name, turned)                                                  \
  inline Tensor operator symbol(const Tensor& a, const Tensor& b) { return distrun::name(a, b); } \
  inline Tensor operator symbol(const Tensor& a, const Scalar& b) { return distrun::name(a, b); } \
  inline Tensor operator symbol(const Scalar& a, const Tensor& b) { return distrun::turned(b, a); }
DISTRUN_COMPARISON(==, eq, eq)
DISTRUN_COMPARISON(!=, ne, ne)
DISTRUN_COMPARISON(<, lt, gt)
DISTRUN_COMPARISON(<=, le, ge)
DISTRUN_COMPARISON(>, gt, lt)
DISTRUN_COMPARISON(>=, ge, le)
#undef DISTRUN_COMPARISON

}  // namespace distrun::tensor
