#pragma once
// Selects the compiled variant of the kernels: the best one that the machine supports.
#include <string_view>

#include <distrun/runtime/tensor/kernels/table.hpp>

namespace distrun::tensor {

enum class InstructionSet : std::uint8_t { Plain, Avx2, Avx512 };

std::string_view name_of(InstructionSet set) noexcept;
InstructionSet best_instruction_set() noexcept;
InstructionSet instruction_set() noexcept;  // in use
// For tests and benchmarks; call it only while nothing is computed. Throws Error{InvalidArgument} for a set that this
// machine does not support.
void use_instruction_set(InstructionSet set);

namespace kernels {

// Returns the kernels of the set in use.
const Table& table() noexcept;

}  // namespace kernels
}  // namespace distrun::tensor
