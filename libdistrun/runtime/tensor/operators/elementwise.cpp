#include <distrun/runtime/tensor/operators/elementwise.hpp>

#include <cmath>

#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/operators/arithmetic.hpp>
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

// Of sums and differences: a factor 0.5 of integers would be 0.
void check_alpha(const char* op, DType dtype, const Scalar& alpha) {
  if (alpha.is_floating() && !is_floating(dtype)) {
    refuse(op,
           "for tensors of " + std::string(name_of(dtype)) + " alpha must not be a floating number, and it is " +
               to_string(alpha),
           {});
  }
}

Scalar negated(const Scalar& number) {
  return number.is_floating() ? Scalar(-number.to<double>())
                              : Scalar(static_cast<std::int64_t>(0 - number.to<std::uint64_t>()));
}

void check_no_bool(const char* op, DType dtype) {
  if (dtype == DType::Bool) refuse(op, "bool tensors cannot be subtracted; ne() tells where they differ", {});
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  check_defined("add", {&a, &b});
  if (a.is_sparse() || b.is_sparse()) [[unlikely]]
    return add_sparse(a, b, alpha);
  if (alpha.is_floating()) check_alpha("add", result_type(a, b), alpha);
  return binary(kAdd, a, b, alpha);
}
Tensor add(const Tensor& a, const Scalar& b, const Scalar& alpha) {
  check_defined("add", {&a});
  check_alpha("add", result_type(a, b), alpha);
  return binary(kAdd, a, b, alpha);
}

Tensor sub(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  check_defined("sub", {&a, &b});
  if (a.is_sparse() || b.is_sparse()) [[unlikely]]
    return add_sparse(a, b, negated(alpha));
  check_alpha("sub", result_type(a, b), alpha);
  check_no_bool("sub", result_type(a, b));
  return binary(kSub, a, b, negated(alpha));
}
Tensor sub(const Tensor& a, const Scalar& b, const Scalar& alpha) {
  check_defined("sub", {&a});
  check_alpha("sub", result_type(a, b), alpha);
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
  if (a.is_sparse() || b.is_sparse()) [[unlikely]]
    return add_sparse_(a, b, alpha);
  check_alpha("add_", result_type(a, b), alpha);
  binary_(kAddInPlace, a, b, alpha);
}
void add_(const Tensor& a, const Scalar& b, const Scalar& alpha) {
  check_defined("add_", {&a});
  check_alpha("add_", result_type(a, b), alpha);
  binary_(kAddInPlace, a, b, alpha);
}

void sub_(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  check_defined("sub_", {&a, &b});
  if (a.is_sparse() || b.is_sparse()) [[unlikely]]
    return add_sparse_(a, b, negated(alpha));
  check_alpha("sub_", result_type(a, b), alpha);
  check_no_bool("sub_", result_type(a, b));
  binary_(kSubInPlace, a, b, negated(alpha));
}
void sub_(const Tensor& a, const Scalar& b, const Scalar& alpha) {
  check_defined("sub_", {&a});
  check_alpha("sub_", result_type(a, b), alpha);
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
  return a.is_sparse() ? mul_sparse(a, -1) : unary({"neg", Unary::Neg}, a);
}
Tensor cos(const Tensor& a) { return unary({"cos", Unary::Cos, true}, a); }
Tensor sin(const Tensor& a) { return unary({"sin", Unary::Sin, true}, a); }
Tensor sigmoid(const Tensor& a) { return unary({"sigmoid", Unary::Sigmoid, true}, a); }
Tensor clamp_min(const Tensor& a, const Scalar& least) {
  check_defined("clamp_min", {&a});
  const DType dtype = result_type(a, least);
  check_fits("clamp_min", least, dtype);
  if (std::isnan(least.to<double>())) return full(a.sizes(), least, {dtype, a.device()});
  return unary({"clamp_min", Unary::ClampMin}, a, least);
}
Tensor relu(const Tensor& a) { return unary({"relu", Unary::ClampMin}, a, 0); }

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

Tensor sigmoid_backward(const Tensor& gradient, const Tensor& result) {
  return binary(BinaryOp{"sigmoid_backward", Binary::SigmoidBackward}, gradient, result);
}
Tensor threshold_backward(const Tensor& gradient, const Tensor& input, const Scalar& threshold) {
  return binary(BinaryOp{"threshold_backward", Binary::ThresholdBackward}, gradient, input, threshold);
}
Tensor clamp_min_backward(const Tensor& gradient, const Tensor& input, const Scalar& least) {
  return binary(BinaryOp{"clamp_min_backward", Binary::ClampMinBackward}, gradient, input, least);
}

}  // namespace distrun::tensor::plain
