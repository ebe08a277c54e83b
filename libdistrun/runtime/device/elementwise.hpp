#pragma once
// What an elementwise kernel computes, as plain data. A driver whose devices run no host code looks here whether it has
// a kernel of its own for it (cuda/own_kernels.hpp).
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <distrun/runtime/device/dims.hpp>

namespace distrun::device {

// What elements are, for drivers; tensor::DType in the same order.
enum class ElementType : std::uint8_t { Bool, U8, I8, I16, I32, I64, F32, F64 };

// An element of some type, in place.
struct Number {
  alignas(8) std::array<std::byte, 8> bytes{};
};

// out[i] = operation(inputs[i]..., parameter) for all i of `sizes`.
struct Elementwise {
  static constexpr std::size_t kMostOperands = 4;

  struct Operand {
    ElementType type{};
    int region = -1;  // which of the kernel's; -1: `number` stands for every element
    Dims strides;     // in bytes, over `sizes`; 0 where the operand repeats itself
    Number number;
  };

  // "fill" (the parameter), "copy" (to the output's type), "add" (a + parameter * b), "mul"; the others have the names
  // of runtime/tensor/operators/arithmetic.cpp. Lives on.
  const char* operation = "";
  Dims sizes;                     // outermost first; none: one element
  std::vector<Operand> operands;  // the output, and the inputs in their order
  Number parameter;               // of the inputs' type; of fill's output's
};

}  // namespace distrun::device
