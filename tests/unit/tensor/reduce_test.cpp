#include <catch2/catch.hpp>

#include <cmath>
#include <span>

#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::tensor {
namespace {

using Catch::Matchers::Contains;

Tensor numbered_as(const Dims& sizes, DType dtype = DType::F32) {
  return view(to(arange(device::count_of(sizes)), dtype), sizes);
}

// Returns the elements' indices modulo 7.
Tensor remainders_of_7(const Dims& sizes) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(device::count_of(sizes)));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i % 7);
  return from_values(std::span<const std::int64_t>(numbers), sizes);
}
// Sums over one of the two dimensions.
std::vector<std::int64_t> plain_sums(const Tensor& numbers, std::int64_t dim) {
  std::vector<std::int64_t> sums(static_cast<std::size_t>(numbers.size(1 - dim)));
  std::size_t i = 0;
  for (const std::int64_t number : to_vector<std::int64_t>(numbers)) {
    const std::size_t columns = static_cast<std::size_t>(numbers.size(1)), at = i++;
    sums[dim == 0 ? at % columns : at / columns] += number;
  }
  return sums;
}

}  // namespace

TEST_CASE("the sum of integers is int64, of floating-point numbers their own dtype") {
  CHECK(sum(full({300}, 1, {DType::Bool})).item_as<int>() == 300);
  CHECK(sum(full({300}, 255, {DType::U8})).dtype() == DType::I64);
  CHECK(sum(full({300}, 255, {DType::U8})).item_as<int>() == 76500);
  CHECK(sum(full({2}, INT64_MAX, {DType::I64})).item_as<std::int64_t>() == -2);
  CHECK(sum(ones({3})).dtype() == DType::F32);
  CHECK(sum(ones({3}, {DType::F64})).dtype() == DType::F64);
  CHECK(sum(zeros({0})).item_as<float>() == 0);
  CHECK(sum(full({}, 4)).item_as<float>() == 4);
}

TEST_CASE("a sum over many elements keeps its precision") {
  const Tensor tenths = full({1 << 20}, 0.1F);
  const double exact = static_cast<double>(0.1F) * (1 << 20);
  CHECK(sum(tenths).item_as<float>() == static_cast<float>(exact));
}

TEST_CASE("a sum is the same with every instruction set and in every layout with the same order") {
  Tensor values = cos(mul(numbered_as({70000}), 0.37));
  const float expected = sum(values).item_as<float>();
  for (const InstructionSet set : {InstructionSet::Plain, InstructionSet::Avx2, InstructionSet::Avx512}) {
    if (set > best_instruction_set()) continue;
    use_instruction_set(set);
    CHECK(instruction_set() == set);
    CHECK(sum(values).item_as<float>() == expected);
  }
  use_instruction_set(best_instruction_set());
}

TEST_CASE("sums of columns and rows of any number are those of a plain loop, with every instruction set") {
  for (const InstructionSet set : {InstructionSet::Plain, InstructionSet::Avx2, InstructionSet::Avx512}) {
    if (set > best_instruction_set()) continue;
    use_instruction_set(set);
    for (const std::int64_t rows : {1, 2, 7, 8, 17, 300}) {
      for (const std::int64_t columns : {1, 3, 4, 10, 31, 32, 33, 64, 75, 2061}) {
        const Tensor numbers = remainders_of_7({rows, columns});
        const std::vector<std::int64_t> of_columns = plain_sums(numbers, 0), of_rows = plain_sums(numbers, 1);
        for (const DType dtype : {DType::U8, DType::I8, DType::I16, DType::I32, DType::I64, DType::F32, DType::F64}) {
          INFO(rows << " by " << columns << ' ' << name_of(dtype) << ", " << name_of(set));
          const Tensor typed = to(numbers, dtype);
          CHECK(to_vector<std::int64_t>(to(sum(typed, {0}), DType::I64)) == of_columns);
          CHECK(to_vector<std::int64_t>(to(sum(typed, {1}), DType::I64)) == of_rows);
        }
      }
    }
  }
  use_instruction_set(best_instruction_set());
}

TEST_CASE("sums over dimensions, in any order of memory") {
  const Tensor a = numbered_as({2, 3, 4});
  CHECK(to_vector<float>(sum(a, {2})) == std::vector<float>{6, 22, 38, 54, 70, 86});
  CHECK(to_vector<float>(sum(a, {0})) == std::vector<float>{12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34});
  CHECK(to_vector<float>(sum(a, {0, 2})) == std::vector<float>{60, 92, 124});
  CHECK(sum(a, {1}, true).sizes() == Dims{2, 1, 4});
  CHECK(sum(a, {-1}).sizes() == Dims{2, 3});
  CHECK(sum(a, {}).item_as<float>() == 276);
  const Tensor turned = permute(a, {1, 2, 0});
  CHECK(equal(sum(turned, {2}), sum(contiguous(turned), {2})));
  CHECK(equal(sum(turned, {0}), sum(contiguous(turned), {0})));
  CHECK(equal(sum(turned, {0, 1}), sum(a, {1, 2})));
  CHECK(to_vector<float>(sum(expand(ones({1, 3}), {5, 3}), {0})) == std::vector<float>{5, 5, 5});
  CHECK(to_vector<float>(sum(zeros({0, 3}), {0})) == std::vector<float>{0, 0, 0});
  CHECK(sum(zeros({0, 3}), {1}).sizes() == Dims{0});
  const Tensor wide = numbered_as({3, 1300});
  CHECK(equal(sum(wide, {0}), add(add(select(wide, 0, 0), select(wide, 0, 1)), select(wide, 0, 2))));
  CHECK_THROWS_WITH(sum(a, {0, -3}), Contains("dimension 0 appears twice"));
  CHECK_THROWS_WITH(sum(a, {3}),
                    Contains("sum: dimension out of range (expected to be in range of [-3, 2], but got 3)"));
}

TEST_CASE("broadcast dimensions are summed up again") {
  const Tensor a = numbered_as({2, 3});
  CHECK(sum_to_size(a, {2, 3}).is_same(a));
  CHECK(to_vector<float>(sum_to_size(a, {3})) == std::vector<float>{3, 5, 7});
  CHECK(to_vector<float>(sum_to_size(a, {2, 1})) == std::vector<float>{3, 12});
  CHECK(sum_to_size(a, {}).dim() == 0);
  CHECK_THROWS_WITH(sum_to_size(a, {1, 1, 1}),
                    Contains("sizes [1, 1, 1] cannot be expanded to these (float32 [2, 3])"));
}

TEST_CASE("all, equal and mean") {
  CHECK(all(ones({4})).item_as<bool>());
  CHECK_FALSE(all(numbered_as({4})).item_as<bool>());
  CHECK(all(zeros({0})).item_as<bool>());
  CHECK(all(full({1}, std::nan(""))).item_as<bool>());
  CHECK(equal(numbered_as({2, 2}), numbered_as({2, 2})));
  CHECK_FALSE(equal(numbered_as({4}), numbered_as({2, 2})));
  CHECK_FALSE(equal(numbered_as({4}), numbered_as({4}, DType::F64)));
  CHECK_FALSE(equal(full({1}, std::nan("")), full({1}, std::nan(""))));
  CHECK(mean(numbered_as({5})).item_as<float>() == 2);
  CHECK(std::isnan(mean(zeros({0})).item_as<float>()));
  CHECK_THROWS_WITH(mean(ones({2}, {DType::I64})), Contains("mean: a floating dtype is required (int64 [2])"));
  CHECK(mse_loss(numbered_as({3}), zeros({3})).item_as<float>() == Approx(5.0 / 3));
  CHECK_THROWS_WITH(mse_loss(ones({3}), ones({4})), Contains("mse_loss: input and target"));
}

TEST_CASE("all() is bool for every type, and mean() adds in double") {
  CHECK(all(full({2}, 3, {DType::U8})).dtype() == DType::Bool);
  CHECK(mean(from_values<float>({1e8F, 1, -1e8F})).item_as<float>() == 1.0F / 3);
}

}  // namespace distrun::tensor
