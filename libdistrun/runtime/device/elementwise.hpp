#pragma once
// An elementwise kernel as plain data. A driver for devices that run no host code searches its kernels for it
// (cuda/own_kernels.hpp).
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <distrun/runtime/device/dims.hpp>

namespace distrun::device {

// Element types for drivers, in the order of tensor::DType.
enum class ElementType : std::uint8_t { Bool, U8, I8, I16, I32, I64, F32, F64 };

// The bytes of an element of any type.
struct Number {
  alignas(8) std::array<std::byte, 8> bytes{};
};

// out[i] = operation(inputs[i]..., parameter) for all i of `sizes`.
struct Elementwise {
  static constexpr std::size_t kMostOperands = 4;

  struct Operand {
    ElementType type{};
    int region = -1;  // index of the kernel's region; -1: `number` stands for every element
    Dims strides;     // in bytes, over `sizes`; 0 along repeated dimensions
    Number number;
  };

  // "fill" (the parameter), "copy" (to the output's type), "add" (a + parameter * b), "mul"; the others have the names
  // of runtime/tensor/operators/arithmetic.cpp. Must live until the process ends.
  const char* operation = "";
  Dims sizes;                     // outermost first; empty: one element
  std::vector<Operand> operands;  // the output, and the inputs in their order
  Number parameter;               // of the inputs' type; for fill, of the output's
};

}  // namespace distrun::device
