#include <catch2/catch.hpp>

#include <cmath>

#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::tensor {
namespace {

using Catch::Matchers::Contains;

const float kNan = std::nanf("");

std::vector<std::int64_t> places(const Tensor& tensor) { return to_vector<std::int64_t>(tensor); }

// The first that no other is larger than; what is no number is larger than all.
std::int64_t plain_argmax(const std::vector<float>& numbers) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    const bool is_larger = numbers[i] > numbers[best] || (std::isnan(numbers[i]) && !std::isnan(numbers[best]));
    if (is_larger) best = i;
  }
  return static_cast<std::int64_t>(best);
}

}  // namespace

TEST_CASE("the largest along a dimension, and the first place of it") {
  const Tensor a = from_values<float>({1, 5, 5, 2, 7, 0}, {2, 3});
  const Extremes rows = max(a, 1), columns = max(a, 0, true);
  CHECK(to_vector<float>(rows.values) == std::vector<float>{5, 7});
  CHECK(places(rows.indices) == std::vector<std::int64_t>{1, 1});
  CHECK(columns.values.sizes() == Dims{1, 3});
  CHECK(to_vector<float>(columns.values) == std::vector<float>{2, 7, 5});
  CHECK(places(columns.indices) == std::vector<std::int64_t>{1, 1, 0});
  CHECK(to_vector<float>(min(a, -1).values) == std::vector<float>{1, 0});
  CHECK(places(min(a, 0).indices) == std::vector<std::int64_t>{0, 0, 1});
  CHECK(max(a).item<float>() == 7);
  CHECK(min(a).item<float>() == 0);
  CHECK(argmax(a).item<int>() == 4);
  CHECK(places(argmin(a, 0, true)) == std::vector<std::int64_t>{0, 0, 1});
  CHECK(max(full({}, 3), 0).values.item<float>() == 3);
  CHECK(argmax(full({}, 3), -1).item<int>() == 0);
}

TEST_CASE("what is no number is the largest and the smallest, and the first of them is meant") {
  const Tensor a = from_values<float>({1, kNan, 3, kNan}, {1, 4});
  CHECK(std::isnan(max(a).item<float>()));
  CHECK(std::isnan(to_vector<float>(amin(a, 0))[1]));
  CHECK(places(max(a, 1).indices) == std::vector<std::int64_t>{1});
  CHECK(places(min(a, 1).indices) == std::vector<std::int64_t>{1});
  CHECK(argmax(a).item<int>() == 1);
  CHECK(places(max(t(a), 0).indices) == std::vector<std::int64_t>{1});
}

TEST_CASE("extremes over several dimensions, in any order of memory") {
  const Tensor a = view(arange(24), {2, 3, 4});
  CHECK(places(amax(a, {0, 2})) == std::vector<std::int64_t>{15, 19, 23});
  CHECK(places(amin(a, {1, 2})) == std::vector<std::int64_t>{0, 12});
  CHECK(amax(a, {0, -1}, true).sizes() == Dims{1, 3, 1});
  CHECK(amax(a).item<int>() == 23);
  CHECK(amax(a, 1).sizes() == Dims{2, 4});
  CHECK(equal(amax(permute(a, {2, 0, 1}), {0, 1}), amax(a, {0, 2})));
  CHECK(max(from_values<bool>({false, true})).dtype() == DType::Bool);
  CHECK(min(from_values<std::uint8_t>({200, 3})).item<int>() == 3);
}

TEST_CASE("extremes of many elements are those of a plain loop, with every instruction set") {
  for (const InstructionSet set : {InstructionSet::Plain, InstructionSet::Avx2, InstructionSet::Avx512}) {
    if (set > best_instruction_set()) continue;
    use_instruction_set(set);
    for (const std::int64_t size : {1, 15, 63, 64, 65, 300, 1000}) {
      Generator generator(static_cast<std::uint64_t>(size));
      const Tensor numbers = randint(0, size, {size}, {DType::F32, {}}, generator);
      const std::int64_t expected = plain_argmax(to_vector<float>(numbers));
      INFO(size << " elements, " << name_of(set));
      CHECK(argmax(numbers).item<std::int64_t>() == expected);
      const Tensor beside = stack({numbers, numbers, numbers}, 1);
      CHECK(places(max(beside, 0).indices) == std::vector<std::int64_t>(3, expected));
      CHECK(equal(amax(beside, 0), max(beside, 0).values));
      if (size > 70) {
        fill_(select(numbers, 0, 69), kNan);
        CHECK(argmin(numbers).item<int>() == 69);
      }
    }
  }
  use_instruction_set(best_instruction_set());
}

TEST_CASE("of no elements there is no extreme") {
  CHECK_THROWS_WITH(max(zeros({0})), Contains("max: there is no element to choose from") && Contains("[0]"));
  CHECK_THROWS_WITH(max(zeros({0, 3}), 0), Contains("no element to choose from"));
  CHECK_THROWS_WITH(argmin(zeros({0})), Contains("argmin: "));
  CHECK_THROWS_WITH(amax(zeros({0, 3})), Contains("amax: "));
  CHECK(max(zeros({0, 3}), 1).values.sizes() == Dims{0});
  CHECK_THROWS_WITH(max(ones({2}), 1), Contains("dimension out of range"));
  CHECK_THROWS_WITH(amax(ones({2, 2}), {0, -2}), Contains("dimension 0 appears twice"));
  CHECK_THROWS_WITH(max(Tensor()), Contains("max: a tensor is needed"));
}

}  // namespace distrun::tensor
