#pragma once
// A number beside tensors. It takes part in promotion by its kind only: a double next to a float32 tensor stays
// float32.
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include <distrun/runtime/tensor/core/dtype.hpp>

namespace distrun::tensor {

template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;

// A bool, an std::int64_t or a double. A value type; converts from every arithmetic type.
class Scalar {
 public:
  Scalar() noexcept : value_(std::int64_t{0}) {}
  template <std::same_as<bool> T>  // excludes types that only convert to bool, such as pointers
  Scalar(T value) noexcept : value_(value) {}
  // Throws Error{InvalidArgument} if the number exceeds an int64.
  template <Integer T>
  Scalar(T value) noexcept(!kMayBeTooLarge<T>) : value_(static_cast<std::int64_t>(value)) {
    if constexpr (kMayBeTooLarge<T>) {
      if (value > T{INT64_MAX}) refuse_large(value);
    }
  }
  template <std::floating_point T>
  Scalar(T value) noexcept : value_(static_cast<double>(value)) {}

  DType dtype() const noexcept;                                                         // Bool, I64 or F64
  bool is_floating() const noexcept { return std::holds_alternative<double>(value_); }  // holds a double
  // Converts as C++ does; a floating number beyond int64 becomes the smallest int64.
  template <class T>
  T to() const noexcept {
    if (const auto* integer = std::get_if<std::int64_t>(&value_)) return static_cast<T>(*integer);
    if (const auto* boolean = std::get_if<bool>(&value_)) return static_cast<T>(*boolean);
    const double floating = *std::get_if<double>(&value_);
    constexpr bool kTruncates = std::is_integral_v<T> && !std::is_same_v<T, bool>;
    return kTruncates ? static_cast<T>(truncated(floating)) : static_cast<T>(floating);
  }
  friend bool operator==(const Scalar&, const Scalar&) = default;

 private:
  template <class T>
  static constexpr bool kMayBeTooLarge = std::is_unsigned_v<T> && sizeof(T) >= sizeof(std::int64_t);

  [[noreturn]] static void refuse_large(std::uint64_t value);
  static std::int64_t truncated(double floating) noexcept;

  std::variant<bool, std::int64_t, double> value_;
};
// Returns whether a T can hold the number, apart from digits after the point and rounding of a float.
template <class T>
bool can_be(const Scalar& number) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    const auto value = number.to<double>();
    return !std::isfinite(value) || std::abs(value) <= static_cast<double>(std::numeric_limits<T>::max());
  } else if constexpr (std::is_same_v<T, bool>) {
    return true;
  } else {
    if (!number.is_floating()) return std::in_range<T>(number.to<std::int64_t>());
    const auto value = std::trunc(number.to<double>());
    return value >= static_cast<double>(std::numeric_limits<T>::min()) &&
           value < std::ldexp(1.0, std::numeric_limits<T>::digits);
  }
}
// Returns whether an element of the dtype can hold the number, apart from digits after the point and rounding of a
// float.
bool fits(const Scalar& number, DType dtype) noexcept;
std::string to_string(const Scalar& scalar);  // "true", "3", "0.5", "2.0"

}  // namespace distrun::tensor

namespace distrun {
using tensor::Scalar;
}  // namespace distrun
