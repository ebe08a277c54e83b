#include <distrun/runtime/tensor/operators/powers.hpp>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/promotion.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/operators/arithmetic.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/sparse/coalesce.hpp>

namespace distrun::tensor::plain {
namespace {

using kernels::Binary;
using kernels::Unary;

constexpr BinaryOp kPow{"pow", Binary::Pow}, kPowInPlace{"pow_", Binary::Pow};

// Returns the result dtype of a tensor and a scalar exponent.
DType dtype_of_power(const char* op, const Tensor& a, const Scalar& exponent) {
  check_defined(op, {&a});
  const DType dtype = result_type(a, exponent);
  if (dtype == DType::Bool) refuse(op, "not for elements of bool", {});
  if (!is_floating(dtype) && exponent.to<std::int64_t>() < 0) {
    refuse(op,
           "integers have no integer powers below 0, and the exponent is " + to_string(exponent) +
               "; with a floating one the result is floating",
           {&a});
  }
  check_fits(op, exponent, dtype);
  return dtype;
}

}  // namespace

Tensor pow(const Tensor& a, const Tensor& b) { return binary(kPow, a, b); }

Tensor pow(const Tensor& a, const Scalar& b) {
  const DType dtype = dtype_of_power("pow", a, b);
  const double exponent = b.to<double>();
  if (exponent == 2 && a.is_sparse()) {
    const Tensor base = to(coalesce(a), dtype);  // coalescing adds entries in their original dtype
    return mul(base, base);
  }
  check_dense("pow", {&a});
  if (exponent == 0) return full(a.sizes(), 1, {dtype, a.device()});
  if (exponent == 1) return clone(to(a, dtype));
  if (exponent == 2) return binary({"pow", Binary::Mul}, to(a, dtype), to(a, dtype));
  if (exponent == 3) return unary({"pow", Unary::Cube}, to(a, dtype));
  if (exponent == 0.5) return unary({"pow", Unary::Sqrt}, to(a, dtype));
  if (exponent == -0.5) return unary({"pow", Unary::Rsqrt}, to(a, dtype));
  if (exponent == -1) return binary(BinaryOp{"pow", Binary::Div}, 1, to(a, dtype));
  return binary(kPow, a, b);
}

Tensor pow(const Scalar& a, const Tensor& b) {
  check_defined("pow", {&b});
  check_fits("pow", a, result_type(b, a));
  return binary(kPow, a, b);
}

Tensor square(const Tensor& a) { return pow(a, 2); }

void pow_(const Tensor& a, const Tensor& b) { binary_(kPowInPlace, a, b); }

void pow_(const Tensor& a, const Scalar& b) {
  const DType dtype = dtype_of_power("pow_", a, b);
  const double exponent = b.to<double>();
  const bool is_of_dtype = dtype == a.dtype();
  if (exponent == 2 && is_of_dtype) return binary_({"pow_", Binary::Mul}, a, a);
  if (exponent == 3 && is_of_dtype) return unary_({"pow_", Unary::Cube}, a);
  if (exponent == 0.5 && is_of_dtype) return unary_({"pow_", Unary::Sqrt}, a);
  binary_(kPowInPlace, a, b);
}

}  // namespace distrun::tensor::plain
