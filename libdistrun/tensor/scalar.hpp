#pragma once
// A number beside tensors. It takes part in promotion by its kind only: a double next to a float32 tensor stays
// float32.
#include <concepts>
#include <cstdint>
#include <string>
#include <variant>

#include <distrun/tensor/dtype.hpp>

namespace distrun::tensor {

class Scalar {
 public:
  Scalar() noexcept : value_(std::int64_t{0}) {}
  Scalar(bool value) noexcept : value_(value) {}
  template <std::integral T>
  Scalar(T value) noexcept : value_(static_cast<std::int64_t>(value)) {}
  template <std::floating_point T>
  Scalar(T value) noexcept : value_(static_cast<double>(value)) {}

  DType dtype() const noexcept;  // Bool, I64 or F64
  template <class T>
  T to() const noexcept {
    return std::visit([](auto value) { return static_cast<T>(value); }, value_);
  }
  friend bool operator==(const Scalar&, const Scalar&) = default;

 private:
  std::variant<bool, std::int64_t, double> value_;
};
std::string to_string(const Scalar& scalar);

}  // namespace distrun::tensor

namespace distrun {
using tensor::Scalar;
}  // namespace distrun
