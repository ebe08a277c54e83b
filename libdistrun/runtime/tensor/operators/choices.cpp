#include <distrun/runtime/tensor/operators/choices.hpp>

#include <cmath>

#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/promotion.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/operators/arithmetic.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>

namespace distrun::tensor::plain {
namespace {

using kernels::Choice;

Tensor choose(const Tensor& condition, const TensorOrNumber& a, const TensorOrNumber& b, DType dtype) {
  check_defined("where", {&condition});
  if (condition.dtype() != DType::Bool) {
    refuse("where", "the condition must be bool; use ne(condition, 0)", {&condition});
  }
  for (const TensorOrNumber* input : {&a, &b}) {
    if (input->tensor == nullptr) check_fits("where", input->number, dtype);
  }
  return choice({"where", Choice::Where, true}, condition, a, b, dtype);
}

// Both bounds take part in the result's dtype.
DType dtype_between(const char* op, const Tensor& a, const Scalar& least, const Scalar& largest) {
  DType dtype = result_type(a, least);
  if (largest.is_floating() && !is_floating(dtype)) dtype = result_type(a, largest);
  check_fits(op, least, dtype);
  check_fits(op, largest, dtype);
  return dtype;
}

bool is_none(const Scalar& number) { return std::isnan(number.to<double>()); }

void check_bounds(const char* op, const Tensor& a, bool has_bound) {
  check_defined(op, {&a});
  if (!has_bound) refuse(op, "at least one bound is required", {&a});
}

}  // namespace

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  check_defined("where", {&a, &b});
  return choose(condition, a, b, result_type(a, b));
}
Tensor where(const Tensor& condition, const Tensor& a, const Scalar& b) {
  check_defined("where", {&a});
  return choose(condition, a, b, result_type(a, b));
}
Tensor where(const Tensor& condition, const Scalar& a, const Tensor& b) {
  check_defined("where", {&b});
  return choose(condition, a, b, result_type(b, a));
}
Tensor where(const Tensor& condition, const Scalar& a, const Scalar& b) {
  return choose(condition, a, b, result_type(scalar_tensor(a), scalar_tensor(b)));
}

Tensor clamp(const Tensor& a, const std::optional<Scalar>& least, const std::optional<Scalar>& largest) {
  check_bounds("clamp", a, least || largest);
  if (!largest) return clamp_min(a, *least);
  if (!least) return clamp_max(a, *largest);
  const DType dtype = dtype_between("clamp", a, *least, *largest);
  if (is_none(*least) || is_none(*largest)) return full(a.sizes(), std::nan(""), {dtype, a.device()});
  return choice({"clamp", Choice::Clamp}, a, *least, *largest, dtype);
}

void clamp_(const Tensor& a, const std::optional<Scalar>& least, const std::optional<Scalar>& largest) {
  check_bounds("clamp_", a, least || largest);
  if (!largest) return clamp_min_(a, *least);
  if (!least) return clamp_max_(a, *largest);
  const DType dtype = dtype_between("clamp_", a, *least, *largest);
  if (is_floating(a.dtype()) && (is_none(*least) || is_none(*largest))) return fill_(a, std::nan(""));
  choice_({"clamp_", Choice::Clamp}, a, *least, *largest, dtype);
}

Tensor keep_scaled(const Tensor& kept, const Tensor& a, const Scalar& factor) {
  return choice({"dropout", Choice::Dropout, true}, kept, a, factor, a.dtype());
}

Tensor maximum_backward(const Tensor& gradient, const Tensor& a, const Tensor& b) {
  return choice({"maximum_backward", Choice::MaximumBackward}, gradient, a, b, gradient.dtype());
}
Tensor minimum_backward(const Tensor& gradient, const Tensor& a, const Tensor& b) {
  return choice({"minimum_backward", Choice::MinimumBackward}, gradient, a, b, gradient.dtype());
}

}  // namespace distrun::tensor::plain
