#include <distrun/runtime/tensor/core/promotion.hpp>

namespace distrun::tensor {
namespace {

int kind_of(DType dtype) noexcept { return dtype == DType::Bool ? 0 : is_integral(dtype) ? 1 : 2; }

// `low` counts only if it is of a higher kind.
DType raised(DType high, DType low) noexcept { return kind_of(low) > kind_of(high) ? low : high; }

DType default_of(const Scalar& number) noexcept { return number.is_floating() ? DType::F32 : number.dtype(); }

}  // namespace

DType result_type(const Tensor& a, const Tensor& b) noexcept {
  if (a.dtype() == b.dtype()) return a.dtype();
  if ((a.dim() == 0) == (b.dim() == 0)) return promote(a.dtype(), b.dtype());
  return a.dim() == 0 ? raised(b.dtype(), a.dtype()) : raised(a.dtype(), b.dtype());
}

DType result_type(const Tensor& a, const Scalar& b) noexcept { return raised(a.dtype(), default_of(b)); }

void check_factor(const char* op, DType dtype, const Scalar& alpha) {
  if (alpha.dtype() == DType::I64) return;
  if (alpha.is_floating() ? is_floating(dtype) : dtype == DType::Bool) return;
  const char* const what = alpha.is_floating() ? " alpha must not be a floating number, and it is "
                                               : " alpha must be a number and not a bool, and it is ";
  refuse(op, "for tensors of " + std::string(name_of(dtype)) + what + to_string(alpha), {});
}

void check_castable(const char* op, DType result, const Tensor& out) {
  if (kind_of(result) <= kind_of(out.dtype())) return;
  refuse(op, "result type " + std::string(name_of(result)) + " can't be cast to the output's", {&out});
}

}  // namespace distrun::tensor
