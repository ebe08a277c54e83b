#include <distrun/runtime/tensor/core/value.hpp>

#include <array>

namespace distrun::tensor {

std::string_view name_of(ValueKind kind) noexcept {
  static constexpr std::array<std::string_view, 8> kNames = {"none",  "Tensor", "bool",     "int",
                                                             "float", "str",    "Tensor[]", "int[]"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace distrun::tensor
