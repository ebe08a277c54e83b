#include <distrun/runtime/tensor/core/scalar.hpp>

#include <charconv>
#include <cmath>
#include <limits>

#include <distrun/common/base/error.hpp>

namespace distrun::tensor {
namespace {

// Returns the shortest text that reads back as the same number; a point marks a floating number.
std::string shortest(double value) {
  char buffer[32];
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, end.ptr);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

DType Scalar::dtype() const noexcept {
  if (std::holds_alternative<bool>(value_)) return DType::Bool;
  return is_floating() ? DType::F64 : DType::I64;
}

void Scalar::refuse_large(std::uint64_t value) {
  throw Error(ErrorKind::InvalidArgument, std::to_string(value) + " exceeds int64; pass it as a floating-point number");
}

std::int64_t Scalar::truncated(double floating) noexcept {
  constexpr double kLimit = 9223372036854775808.0;
  return floating >= -kLimit && floating < kLimit ? static_cast<std::int64_t>(floating) : INT64_MIN;
}

bool fits(const Scalar& number, DType dtype) noexcept {
  return visit(dtype, [&number](auto zero) {
    using T = decltype(zero);
    constexpr T kLeast = std::numeric_limits<T>::lowest(), kMost = std::numeric_limits<T>::max();
    if constexpr (std::is_same_v<T, bool>) {
      return true;
    } else if constexpr (std::is_floating_point_v<T>) {
      const double value = number.to<double>();
      return !std::isfinite(value) || (value >= kLeast && value <= kMost);
    } else if (number.is_floating()) {
      const double value = std::trunc(number.to<double>());
      return value >= static_cast<double>(kLeast) && value < static_cast<double>(kMost) + 1;
    } else {
      const auto value = number.to<std::int64_t>();
      return value >= kLeast && value <= kMost;
    }
  });
}

std::string to_string(const Scalar& scalar) {
  switch (scalar.dtype()) {
    case DType::Bool: return scalar.to<bool>() ? "true" : "false";
    case DType::F64: return shortest(scalar.to<double>());
    default: return std::to_string(scalar.to<std::int64_t>());
  }
}

}  // namespace distrun::tensor
