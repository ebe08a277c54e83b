#pragma once
// Which of the compiled forms of the kernels runs: the best that the machine has.
#include <string_view>

#include <distrun/runtime/tensor/kernels/table.hpp>

namespace distrun::tensor {

enum class InstructionSet : std::uint8_t { Plain, Avx2, Avx512 };

std::string_view name_of(InstructionSet set) noexcept;
InstructionSet best_instruction_set() noexcept;
InstructionSet instruction_set() noexcept;  // in use
// For tests and benchmarks; at a moment when nothing else computes. Throws Error{InvalidArgument} for one that this
// machine doesn't have.
void use_instruction_set(InstructionSet set);

namespace kernels {

// Of the set in use.
const Table& table() noexcept;

}  // namespace kernels
}  // namespace distrun::tensor
