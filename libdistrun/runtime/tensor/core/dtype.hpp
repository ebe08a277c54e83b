#pragma once
// Element types and their promotion.
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <type_traits>

namespace distrun::tensor {

// In promotion order: the later one wins, except for U8 with I8.
enum class DType : std::uint8_t { Bool, U8, I8, I16, I32, I64, F32, F64 };
inline constexpr int kDTypeCount = 8;  // enumerators of DType

// Returns the size of an element in bytes.
constexpr std::size_t size_of(DType dtype) noexcept {
  constexpr std::size_t kBytes[kDTypeCount] = {1, 1, 1, 2, 4, 8, 4, 8};
  return kBytes[static_cast<std::size_t>(dtype)];
}
std::string_view name_of(DType dtype) noexcept;            // "float32"
std::ostream& operator<<(std::ostream& out, DType dtype);  // prints name_of()
// Accepts "float32" and the short and old names: "f32", "float", "double", "long". Throws Error{InvalidArgument}.
DType parse_dtype(std::string_view name);

constexpr bool is_floating(DType dtype) noexcept { return dtype >= DType::F32; }  // F32 or F64
// U8 to I64; not Bool
constexpr bool is_integral(DType dtype) noexcept { return dtype > DType::Bool && dtype < DType::F32; }

// Promotes the dtypes of two tensors with dimensions. Floating beats integral beats bool; within a kind the larger
// wins, and u8 with i8 is i16.
DType promote(DType a, DType b) noexcept;

// The dtype of a C++ type, as `value`: bool, (u)int8_t, int16_t, int32_t, int64_t, float or double.
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::Bool;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::U8;
};
template <>
struct DTypeOf<std::int8_t> {
  static constexpr DType value = DType::I8;
};
template <>
struct DTypeOf<std::int16_t> {
  static constexpr DType value = DType::I16;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::I32;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::I64;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::F32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::F64;
};
// The dtype of a C++ type: dtype_of<float> is F32.
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

// Calls body(T{}) where T is the element type.
template <class Body>
decltype(auto) visit(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::Bool: return body(bool{});
    case DType::U8: return body(std::uint8_t{});
    case DType::I8: return body(std::int8_t{});
    case DType::I16: return body(std::int16_t{});
    case DType::I32: return body(std::int32_t{});
    case DType::I64: return body(std::int64_t{});
    case DType::F32: return body(float{});
    case DType::F64: break;
  }
  return body(double{});
}

}  // namespace distrun::tensor

namespace distrun {
using tensor::DType;
}  // namespace distrun
