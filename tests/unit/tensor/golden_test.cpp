// Operators compared with numpy's results (scripts/golden_tensor.py).
#include <catch2/catch.hpp>

#include <set>

#include <distrun/runtime/tensor/closeness.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/ops.hpp>

#include "golden_operators.hpp"

namespace distrun::tensor {
namespace {

// Returns the same numbers, neither contiguous nor at the start of their memory.
Tensor spread(const Tensor& tensor) {
  if (tensor.dim() == 0) return select(stack({zeros_like(tensor), tensor}), 0, 1);
  const Tensor wide = transpose(contiguous(transpose(stack({zeros_like(tensor), tensor}, -1), 0, -1)), 0, -1);
  return select(wide, -1, 1);
}

void check_case(const GoldenCase& golden) {
  INFO(golden.place << " " << golden.name);
  for (const auto& [name, result] : golden_operators().at(golden.name)(golden)) {
    INFO(name);
    CHECK(difference(result, golden[name]).value_or("") == "");
  }
}

}  // namespace

TEST_CASE("operators compute the same numbers as numpy") {
  std::set<std::string> seen;
  for (const char* file : kGoldenFiles) {
    for (const GoldenCase& golden : read_golden(file, device::kCpu)) {
      check_case(golden);
      seen.insert(golden.name);
    }
  }
  CHECK(seen.size() == golden_operators().size());
}

TEST_CASE("operators compute the same numbers as numpy from tensors that are not contiguous") {
  for (const char* file : kGoldenFiles) {
    for (GoldenCase& golden : read_golden(file, device::kCpu)) {
      for (auto& [name, tensor] : golden.tensors) tensor = spread(tensor);
      check_case(golden);
    }
  }
}

TEST_CASE("operators compute the same numbers as numpy with every instruction set") {
  for (const InstructionSet set : {InstructionSet::Plain, InstructionSet::Avx2, InstructionSet::Avx512}) {
    if (set > best_instruction_set()) continue;
    use_instruction_set(set);
    for (const char* file : kGoldenFiles) {
      for (const GoldenCase& golden : read_golden(file, device::kCpu)) check_case(golden);
    }
  }
  use_instruction_set(best_instruction_set());
}

}  // namespace distrun::tensor
