#include <catch2/catch.hpp>

#include <cmath>
#include <utility>

#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/operators/philox.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::tensor {

using Words = std::array<std::uint32_t, 4>;

TEST_CASE("Philox gives the numbers of its reference implementation") {
  CHECK(philox(0, 0, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox(~0ULL, ~0ULL, ~0ULL) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("the same seed gives the same numbers, and the sequence continues") {
  Generator a(5), b(5), c(6);
  const Tensor first = rand({10}, {}, a);
  CHECK(equal(first, rand({10}, {}, b)));
  CHECK_FALSE(equal(first, rand({10}, {}, a)));
  CHECK_FALSE(equal(first, rand({10}, {}, c)));
  a.set_seed(5);
  CHECK(equal(first, rand({10}, {}, a)));
  CHECK(a.seed() == 5);
  // Fewer elements are a prefix of more.
  a.set_seed(5);
  CHECK(equal(narrow(rand({103}, {}, a), 0, 0, 10), first));
  manual_seed(5);
  CHECK(equal(first, rand({10})));
}

TEST_CASE("uniform numbers are the words of Philox in their order, with every instruction set") {
  Generator generator(9);
  for (const InstructionSet set : {InstructionSet::Plain, InstructionSet::Avx2, InstructionSet::Avx512}) {
    if (set > best_instruction_set()) continue;
    use_instruction_set(set);
    generator.set_seed(9);
    const std::vector<float> floats = to_vector<float>(rand({203}, {}, generator));
    generator.set_seed(9);
    const std::vector<double> doubles = to_vector<double>(rand({103}, {DType::F64}, generator));
    for (std::size_t i = 0; i < floats.size(); ++i) {
      CHECK(floats[i] == static_cast<float>(philox(9, i / 4, 0)[i % 4] >> 8) * 0x1p-24F);
    }
    for (std::size_t i = 0; i < doubles.size(); ++i) {
      const auto words = philox(9, i / 2, 0);
      const std::uint64_t bits = std::uint64_t{words[i % 2 * 2 + 1]} << 32 | words[i % 2 * 2];
      CHECK(doubles[i] == static_cast<double>(bits >> 11) * 0x1p-53);
    }
  }
  use_instruction_set(best_instruction_set());
}

TEST_CASE("uniform numbers fill 0 to 1, normal ones have mean 0 and variance 1") {
  const DType dtype = GENERATE(DType::F32, DType::F64);
  Generator generator(11);
  const Tensor uniform = rand({100000}, {dtype}, generator), normal = randn({100000}, {dtype}, generator);
  CHECK(all(lt(uniform, 1)).item_as<bool>());
  CHECK(all(ge(uniform, 0)).item_as<bool>());
  CHECK(mean(uniform).item_as<double>() == Approx(0.5).margin(0.005));
  CHECK(mean(mul(uniform, uniform)).item_as<double>() == Approx(1.0 / 3).margin(0.005));
  CHECK(mean(normal).item_as<double>() == Approx(0).margin(0.01));
  CHECK(mean(mul(normal, normal)).item_as<double>() == Approx(1).margin(0.02));
  const Tensor square = mul(normal, normal);
  CHECK(mean(mul(square, square)).item_as<double>() == Approx(3).margin(0.15));
}

TEST_CASE("normal numbers are those of Box and Muller, with every instruction set") {
  Generator generator(7);
  const std::vector<float> uniform = to_vector<float>(rand({2500}, {}, generator));
  for (const InstructionSet set : {InstructionSet::Plain, InstructionSet::Avx2, InstructionSet::Avx512}) {
    if (set > best_instruction_set()) continue;
    use_instruction_set(set);
    generator.set_seed(7);
    const std::vector<float> normal = to_vector<float>(randn({2499}, {}, generator));
    for (std::size_t i = 0; i + 1 < normal.size(); i += 2) {
      const double radius = std::sqrt(-2 * std::log1p(-double{uniform[i]})), angle = 2 * M_PI * uniform[i + 1];
      CHECK(normal[i] == Approx(radius * std::cos(angle)).margin(3e-6));
      CHECK(normal[i + 1] == Approx(radius * std::sin(angle)).margin(3e-6));
    }
    generator.set_seed(7);
    use_instruction_set(InstructionSet::Plain);
    CHECK(normal == to_vector<float>(randn({2499}, {}, generator)));
  }
  use_instruction_set(best_instruction_set());
}

TEST_CASE("randperm is the Fisher-Yates shuffle with the words of Philox, with every instruction set") {
  const auto shuffled = [](std::size_t count) {
    std::vector<std::int64_t> numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<std::int64_t>(i);
    for (std::size_t i = 0; i < count; ++i) {
      const auto block = philox(3, i / 2, 0);
      const std::uint64_t word = std::uint64_t{block[i % 2 * 2 + 1]} << 32 | block[i % 2 * 2];
      std::swap(numbers[i],
                numbers[i + static_cast<std::size_t>(static_cast<unsigned __int128>(word) * (count - i) >> 64)]);
    }
    return numbers;
  };
  Generator generator(3);
  for (const InstructionSet set : {InstructionSet::Plain, InstructionSet::Avx2, InstructionSet::Avx512}) {
    if (set > best_instruction_set()) continue;
    use_instruction_set(set);
    for (const std::size_t count : {1, 2, 7, 12, 13, 256, 263, 1000}) {
      INFO(count);
      generator.set_seed(3);
      CHECK(to_vector<std::int64_t>(randperm(static_cast<std::int64_t>(count), device::kCpu, generator)) ==
            shuffled(count));
    }
  }
  use_instruction_set(best_instruction_set());
}

TEST_CASE("random tensors are floating-point, and may be empty") {
  CHECK_THROWS_WITH(rand({2}, {DType::I64}), "rand: a floating dtype is required, not int64");
  CHECK_THROWS_WITH(randn({2}, {DType::Bool}), "randn: a floating dtype is required, not bool");
  CHECK(rand({0, 3}).sizes() == Dims{0, 3});
  CHECK(std::isfinite(randn({}).item_as<float>()));
}

}  // namespace distrun::tensor
