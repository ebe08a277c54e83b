#include <distrun/runtime/tensor/operators/elementwise.hpp>

#include <cmath>
#include <limits>

#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/operators/arithmetic.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>
#include <distrun/runtime/tensor/sparse/sparse_ops.hpp>

namespace distrun::tensor::plain {
namespace {

using kernels::Binary;
using kernels::Comparison;
using kernels::Unary;

constexpr BinaryOp kAdd{"add", Binary::Add}, kAddInPlace{"add_", Binary::Add};
constexpr BinaryOp kSub{"sub", Binary::Add}, kSubInPlace{"sub_", Binary::Add};
constexpr BinaryOp kMul{"mul", Binary::Mul}, kMulInPlace{"mul_", Binary::Mul};
constexpr BinaryOp kDiv{"div", Binary::Div, true}, kDivInPlace{"div_", Binary::Div, true};

// Checks the factor for sums and differences of a tensor with a tensor or number.
template <class Other>
void check_alpha(const char* op, const Tensor& a, const Other& b, const Scalar& alpha) {
  if (alpha != Scalar(1)) [[unlikely]]
    check_factor(op, result_type(a, b), alpha);
}

void check_relu(const char* op, const Tensor& a) {
  check_defined(op, {&a});
  if (a.dtype() == DType::Bool) refuse(op, "not for elements of bool", {&a});
}

Scalar negated(const Scalar& number) {
  return number.is_floating() ? Scalar(-number.to<double>())
                              : Scalar(static_cast<std::int64_t>(0 - number.to<std::uint64_t>()));
}

void check_no_bool(const char* op, DType dtype) {
  if (dtype == DType::Bool) refuse(op, "bool tensors cannot be subtracted; use ne() to find where they differ", {});
}

void check_bound(const char* op, const Tensor& a, const Scalar& bound) { check_fits(op, bound, result_type(a, bound)); }

// A NaN bound makes every element NaN, whereas comparisons would keep all.
Tensor clamp_one(const UnaryOp& op, const Tensor& a, const Scalar& bound) {
  check_defined(op.name, {&a});
  check_bound(op.name, a, bound);
  if (std::isnan(bound.to<double>())) return full(a.sizes(), bound, {result_type(a, bound), a.device()});
  return unary(op, a, bound);
}

void clamp_one_(const UnaryOp& op, const Tensor& a, const Scalar& bound) {
  check_defined(op.name, {&a});
  check_bound(op.name, a, bound);
  if (is_floating(a.dtype()) && std::isnan(bound.to<double>())) return fill_(a, bound);
  unary_(op, a, bound);
}

// Also for a sparse tensor, after coalescing it. For operators that map 0 to 0.
Tensor unary_of_any(const UnaryOp& op, const Tensor& a) {
  check_defined(op.name, {&a});
  if (!a.is_sparse()) [[likely]]
    return unary(op, a);
  const Tensor whole = coalesce(a);
  const SparseParts& parts = sparse(whole);
  return sparse_coo_unchecked(parts.indices, unary(op, parts.values), a.sizes(), true);
}

// Compares absolute values with infinity; for integers the result is constant.
Tensor against_infinity(const ComparisonOp& op, const Tensor& a, bool of_integers) {
  check_defined(op.name, {&a});
  check_dense(op.name, {&a});
  if (!is_floating(a.dtype())) return full(a.sizes(), of_integers, {DType::Bool, a.device()});
  return compare(op, unary({op.name, Unary::Abs}, a), std::numeric_limits<double>::infinity());
}

// Converts to bool, under the operator's name.
Tensor truth(const char* op, const Tensor& a) {
  check_defined(op, {&a});
  return a.dtype() == DType::Bool ? a : compare(ComparisonOp{op, Comparison::Ne}, a, 0);
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  check_defined("add", {&a, &b});
  check_alpha("add", a, b, alpha);
  if (a.is_sparse() || b.is_sparse()) [[unlikely]]
    return add_sparse("add", a, b, alpha);
  return binary(kAdd, a, b, alpha);
}
Tensor add(const Tensor& a, const Scalar& b, const Scalar& alpha) {
  check_defined("add", {&a});
  check_alpha("add", a, b, alpha);
  return binary(kAdd, a, b, alpha);
}

Tensor sub(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  check_defined("sub", {&a, &b});
  check_alpha("sub", a, b, alpha);
  check_no_bool("sub", result_type(a, b));
  if (a.is_sparse() || b.is_sparse()) [[unlikely]]
    return add_sparse("sub", a, b, negated(alpha));
  return binary(kSub, a, b, negated(alpha));
}
Tensor sub(const Tensor& a, const Scalar& b, const Scalar& alpha) {
  check_defined("sub", {&a});
  check_alpha("sub", a, b, alpha);
  check_no_bool("sub", result_type(a, b));
  return binary(kSub, a, b, negated(alpha));
}
Tensor rsub(const Scalar& a, const Tensor& b) {
  check_defined("rsub", {&b});
  check_no_bool("rsub", result_type(b, a));
  return binary(BinaryOp{"rsub", Binary::Add}, a, b, -1);
}

Tensor mul(const Tensor& a, const Tensor& b) {
  check_defined("mul", {&a, &b});
  if (a.is_sparse() || b.is_sparse()) [[unlikely]]
    return mul_sparse(a, b);
  return binary(kMul, a, b);
}
Tensor mul(const Tensor& a, const Scalar& b) {
  check_defined("mul", {&a});
  if (a.is_sparse()) [[unlikely]]
    return mul_sparse(a, b);
  return binary(kMul, a, b);
}

Tensor div(const Tensor& a, const Tensor& b) {
  check_defined("div", {&a, &b});
  if (a.is_sparse()) [[unlikely]]
    return div_sparse(a, b);
  return binary(kDiv, a, b);
}
Tensor div(const Tensor& a, const Scalar& b) {
  check_defined("div", {&a});
  if (a.is_sparse()) [[unlikely]]
    return div_sparse(a, b);
  return binary(kDiv, a, b);
}
Tensor rdiv(const Scalar& a, const Tensor& b) { return binary(BinaryOp{"rdiv", Binary::Div, true}, a, b); }

void add_(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  check_defined("add_", {&a, &b});
  check_alpha("add_", a, b, alpha);
  if (a.is_sparse() || b.is_sparse()) [[unlikely]]
    return add_sparse_("add_", a, b, alpha);
  binary_(kAddInPlace, a, b, alpha);
}
void add_(const Tensor& a, const Scalar& b, const Scalar& alpha) {
  check_defined("add_", {&a});
  check_alpha("add_", a, b, alpha);
  binary_(kAddInPlace, a, b, alpha);
}

void sub_(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  check_defined("sub_", {&a, &b});
  check_alpha("sub_", a, b, alpha);
  check_no_bool("sub_", result_type(a, b));
  if (a.is_sparse() || b.is_sparse()) [[unlikely]]
    return add_sparse_("sub_", a, b, negated(alpha));
  binary_(kSubInPlace, a, b, negated(alpha));
}
void sub_(const Tensor& a, const Scalar& b, const Scalar& alpha) {
  check_defined("sub_", {&a});
  check_alpha("sub_", a, b, alpha);
  check_no_bool("sub_", result_type(a, b));
  binary_(kSubInPlace, a, b, negated(alpha));
}

void mul_(const Tensor& a, const Tensor& b) {
  check_defined("mul_", {&a, &b});
  if (a.is_sparse() || b.is_sparse()) [[unlikely]]
    return mul_sparse_(a, b);
  binary_(kMulInPlace, a, b);
}
void mul_(const Tensor& a, const Scalar& b) {
  check_defined("mul_", {&a});
  if (a.is_sparse()) [[unlikely]]
    return mul_sparse_(a, b);
  binary_(kMulInPlace, a, b);
}
void div_(const Tensor& a, const Tensor& b) {
  check_defined("div_", {&a, &b});
  if (a.is_sparse()) [[unlikely]]
    return div_sparse_(a, b);
  binary_(kDivInPlace, a, b);
}
void div_(const Tensor& a, const Scalar& b) {
  check_defined("div_", {&a});
  if (a.is_sparse()) [[unlikely]]
    return div_sparse_(a, b);
  binary_(kDivInPlace, a, b);
}

Tensor neg(const Tensor& a) {
  check_defined("neg", {&a});
  return a.is_sparse() ? neg_sparse(a) : unary({"neg", Unary::Neg}, a);
}
Tensor cos(const Tensor& a) { return unary({"cos", Unary::Cos, true}, a); }
Tensor sin(const Tensor& a) { return unary({"sin", Unary::Sin, true}, a); }
Tensor exp(const Tensor& a) { return unary({"exp", Unary::Exp, true}, a); }
Tensor log(const Tensor& a) { return unary({"log", Unary::Log, true}, a); }
Tensor tanh(const Tensor& a) { return unary_of_any({"tanh", Unary::Tanh, true}, a); }
Tensor sqrt(const Tensor& a) { return unary_of_any({"sqrt", Unary::Sqrt, true}, a); }
Tensor rsqrt(const Tensor& a) { return unary({"rsqrt", Unary::Rsqrt, true}, a); }
Tensor reciprocal(const Tensor& a) { return binary(BinaryOp{"reciprocal", Binary::Div, true}, 1, a); }
Tensor abs(const Tensor& a) { return unary_of_any({"abs", Unary::Abs}, a); }
Tensor maximum(const Tensor& a, const Tensor& b) { return binary({"maximum", Binary::Maximum}, a, b); }
Tensor minimum(const Tensor& a, const Tensor& b) { return binary({"minimum", Binary::Minimum}, a, b); }
Tensor sigmoid(const Tensor& a) { return unary({"sigmoid", Unary::Sigmoid, true}, a); }
Tensor clamp_min(const Tensor& a, const Scalar& least) { return clamp_one({"clamp_min", Unary::ClampMin}, a, least); }
Tensor clamp_max(const Tensor& a, const Scalar& largest) {
  return clamp_one({"clamp_max", Unary::ClampMax}, a, largest);
}
Tensor relu(const Tensor& a) {
  check_relu("relu", a);
  return unary({"relu", Unary::ClampMin}, a, 0);
}

void neg_(const Tensor& a) { unary_({"neg_", Unary::Neg}, a); }
void exp_(const Tensor& a) { unary_({"exp_", Unary::Exp, true}, a); }
void tanh_(const Tensor& a) { unary_({"tanh_", Unary::Tanh, true}, a); }
void sigmoid_(const Tensor& a) { unary_({"sigmoid_", Unary::Sigmoid, true}, a); }
void sqrt_(const Tensor& a) { unary_({"sqrt_", Unary::Sqrt, true}, a); }
void abs_(const Tensor& a) { unary_({"abs_", Unary::Abs}, a); }
void clamp_min_(const Tensor& a, const Scalar& least) { clamp_one_({"clamp_min_", Unary::ClampMin}, a, least); }
void clamp_max_(const Tensor& a, const Scalar& largest) { clamp_one_({"clamp_max_", Unary::ClampMax}, a, largest); }
void relu_(const Tensor& a) {
  check_relu("relu_", a);
  unary_({"relu_", Unary::ClampMin}, a, 0);
}

void fill_(const Tensor& a, const Scalar& value) {
  check_defined("fill_", {&a});
  check_dense("fill_", {&a});
  check_fits("fill_", value, a.dtype());
  fill_pointwise(a, Constant(value, a.dtype()));
  a.bump_version();
}
void zero_(const Tensor& a) { fill_(a, 0); }

#define DISTRUN_COMPARISON(name, Name)                                                                           \
  Tensor name(const Tensor& a, const Tensor& b) { return compare(ComparisonOp{#name, Comparison::Name}, a, b); } \
  Tensor name(const Tensor& a, const Scalar& b) { return compare(ComparisonOp{#name, Comparison::Name}, a, b); }
DISTRUN_COMPARISON(eq, Eq)
DISTRUN_COMPARISON(ne, Ne)
DISTRUN_COMPARISON(lt, Lt)
DISTRUN_COMPARISON(le, Le)
DISTRUN_COMPARISON(gt, Gt)
DISTRUN_COMPARISON(ge, Ge)
#undef DISTRUN_COMPARISON

Tensor logical_not(const Tensor& a) { return compare(ComparisonOp{"logical_not", Comparison::Eq}, a, 0); }
Tensor logical_and(const Tensor& a, const Tensor& b) {
  return binary(BinaryOp{"logical_and", Binary::Minimum}, truth("logical_and", a), truth("logical_and", b));
}
Tensor logical_or(const Tensor& a, const Tensor& b) {
  return binary(BinaryOp{"logical_or", Binary::Maximum}, truth("logical_or", a), truth("logical_or", b));
}
Tensor logical_xor(const Tensor& a, const Tensor& b) {
  return compare(ComparisonOp{"logical_xor", Comparison::Ne}, truth("logical_xor", a), truth("logical_xor", b));
}

Tensor isnan(const Tensor& a) { return compare(ComparisonOp{"isnan", Comparison::Ne}, a, a); }
Tensor isinf(const Tensor& a) { return against_infinity({"isinf", Comparison::Eq}, a, false); }
Tensor isfinite(const Tensor& a) { return against_infinity({"isfinite", Comparison::Lt}, a, true); }

Tensor sigmoid_backward(const Tensor& gradient, const Tensor& result) {
  return binary(BinaryOp{"sigmoid_backward", Binary::SigmoidBackward}, gradient, result);
}
Tensor threshold_backward(const Tensor& gradient, const Tensor& input, const Scalar& threshold) {
  return binary(BinaryOp{"threshold_backward", Binary::ThresholdBackward}, gradient, input, threshold);
}
Tensor clamp_min_backward(const Tensor& gradient, const Tensor& input, const Scalar& least) {
  return binary(BinaryOp{"clamp_min_backward", Binary::ClampMinBackward}, gradient, input, least);
}
Tensor clamp_max_backward(const Tensor& gradient, const Tensor& input, const Scalar& largest) {
  return binary(BinaryOp{"clamp_max_backward", Binary::ClampMaxBackward}, gradient, input, largest);
}
Tensor tanh_backward(const Tensor& gradient, const Tensor& result) {
  return binary(BinaryOp{"tanh_backward", Binary::TanhBackward}, gradient, result);
}
Tensor abs_backward(const Tensor& gradient, const Tensor& input) {
  return binary(BinaryOp{"abs_backward", Binary::AbsBackward}, gradient, input);
}

}  // namespace distrun::tensor::plain
