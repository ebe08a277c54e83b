#pragma once
// An argument or result of an operator that is called by name; also the non-tensor state of a custom function.
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <distrun/runtime/tensor/core/scalar.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

using IntList = std::vector<std::int64_t>;  // such as sizes
// an argument or a result
using Value = std::variant<std::monostate, Tensor, bool, std::int64_t, double, std::string, TensorList, IntList>;

// In the order of Value's alternatives.
enum class ValueKind : std::uint8_t { None, Tensor, Bool, Int, Float, String, Tensors, Ints };
// of the alternative that it holds
inline ValueKind kind_of(const Value& value) noexcept { return static_cast<ValueKind>(value.index()); }
std::string_view name_of(ValueKind kind) noexcept;  // "Tensor", "int", "Tensor[]"

}  // namespace distrun::tensor
