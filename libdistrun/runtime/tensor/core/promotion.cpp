#include <distrun/runtime/tensor/core/promotion.hpp>

#include <cstdint>
#include <limits>

namespace distrun::tensor {
namespace {

int kind_of(DType dtype) noexcept { return dtype == DType::Bool ? 0 : is_integral(dtype) ? 1 : 2; }

// Applies `low` only if it is of a higher kind.
DType raised(DType high, DType low) noexcept { return kind_of(low) > kind_of(high) ? low : high; }

DType default_of(const Scalar& number) noexcept { return number.is_floating() ? DType::F32 : number.dtype(); }

// Unsigned elements take negative factors, which subtract.
bool fits_as_factor(const Scalar& alpha, DType dtype) noexcept {
  if (dtype != DType::U8) return fits(alpha, dtype);
  const auto value = alpha.to<std::int64_t>();
  constexpr std::int64_t kMost = std::numeric_limits<std::uint8_t>::max();
  return value >= -kMost && value <= kMost;
}

// Returns what is wrong with a factor for elements of that dtype; null if it is valid.
const char* wrong_with(const Scalar& alpha, DType dtype) noexcept {
  if (alpha.is_floating() && !is_floating(dtype)) return "not be a floating number";
  if (alpha.dtype() == DType::Bool && dtype != DType::Bool) return "be a number and not a bool";
  return fits_as_factor(alpha, dtype) ? nullptr : "be a number that fits them";
}

}  // namespace

DType result_type(const Tensor& a, const Tensor& b) noexcept {
  if (a.dtype() == b.dtype()) return a.dtype();
  if ((a.dim() == 0) == (b.dim() == 0)) return promote(a.dtype(), b.dtype());
  return a.dim() == 0 ? raised(b.dtype(), a.dtype()) : raised(a.dtype(), b.dtype());
}

DType result_type(const Tensor& a, const Scalar& b) noexcept { return raised(a.dtype(), default_of(b)); }

void check_factor(const char* op, DType dtype, const Scalar& alpha) {
  const char* const what = wrong_with(alpha, dtype);
  if (what == nullptr) return;
  refuse(op,
         "for tensors of " + std::string(name_of(dtype)) + " alpha must " + what + ", but it is " + to_string(alpha),
         {});
}

void check_castable(const char* op, DType result, const Tensor& out) {
  if (kind_of(result) <= kind_of(out.dtype())) return;
  refuse(op, "result type " + std::string(name_of(result)) + " cannot be cast to the output's", {&out});
}

}  // namespace distrun::tensor
