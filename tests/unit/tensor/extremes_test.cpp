#include <catch2/catch.hpp>

#include <cmath>
#include <random>
#include <span>

#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::tensor {
namespace {

using Catch::Matchers::Contains;

const float kNan = std::nanf("");

std::vector<std::int64_t> places(const Tensor& tensor) { return to_vector<std::int64_t>(tensor); }

// Returns the first maximum; NaN counts as largest.
template <class T>
std::int64_t plain_argmax(const T* numbers, std::int64_t count) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < count; ++i) {
    const bool is_none = numbers[i] != numbers[i] && numbers[best] == numbers[best];
    if (numbers[i] > numbers[best] || is_none) best = i;
  }
  return best;
}

// Returns rows of `size` elements, many of them equal.
constexpr std::int64_t kRows = 3;
template <class T>
std::vector<T> rows_of(std::int64_t size) {
  std::vector<T> numbers(static_cast<std::size_t>(kRows * size));
  std::mt19937 generator(static_cast<unsigned>(size));
  for (T& number : numbers) number = static_cast<T>(generator() % 100);
  return numbers;
}

// Checks rows, and the same numbers as columns.
template <class T>
void check_largest(const std::vector<T>& numbers) {
  const std::int64_t size = static_cast<std::int64_t>(numbers.size()) / kRows;
  const Tensor rows = from_values(std::span<const T>(numbers), {kRows, size});
  const Extremes of_rows = max(rows, 1), of_columns = max(t(rows), 0);
  std::vector<std::int64_t> expected;
  for (std::int64_t row = 0; row < kRows; ++row) expected.push_back(plain_argmax(numbers.data() + row * size, size));
  INFO("rows of " << size << ", " << name_of(rows.dtype()) << ", " << name_of(instruction_set()));
  CHECK(places(of_rows.indices) == expected);
  CHECK(places(of_columns.indices) == expected);
  CHECK(places(argmax(rows, 1)) == expected);
  for (const Tensor& values : {of_rows.values, of_columns.values, amax(rows, {1}), amax(t(rows), {0})}) {
    for (std::size_t row = 0; row < kRows; ++row) {
      const T value = to_vector<T>(values)[row],
              of_place = numbers[row * static_cast<std::size_t>(size) + static_cast<std::size_t>(expected[row])];
      CHECK((value == of_place || (value != value && of_place != of_place)));
    }
  }
}
// Checks with a NaN at the beginning, in the middle and at the end.
template <class T>
void check_largest_with_others(std::int64_t size) {
  for (const std::int64_t place : {std::int64_t{0}, size / 2, size - 1}) {
    std::vector<T> numbers = rows_of<T>(size);
    numbers[static_cast<std::size_t>(size + place)] = static_cast<T>(kNan);
    check_largest(numbers);
  }
}

}  // namespace

TEST_CASE("the maximum along a dimension, and its first index") {
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

TEST_CASE("NaN is the maximum and the minimum, and the first NaN is taken") {
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

TEST_CASE("extremes of rows of any length are those of a plain loop, with every instruction set") {
  for (const InstructionSet set : {InstructionSet::Plain, InstructionSet::Avx2, InstructionSet::Avx512}) {
    if (set > best_instruction_set()) continue;
    use_instruction_set(set);
    for (const std::int64_t size : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 300, 2500}) {
      check_largest(rows_of<std::uint8_t>(size));
      check_largest(rows_of<std::int8_t>(size));
      check_largest(rows_of<std::int16_t>(size));
      check_largest(rows_of<std::int32_t>(size));
      check_largest(rows_of<std::int64_t>(size));
      check_largest(rows_of<float>(size));
      check_largest(rows_of<double>(size));
      check_largest_with_others<float>(size);
      check_largest_with_others<double>(size);
      std::vector<float> numbers = rows_of<float>(size);
      const std::vector<std::int64_t> largest =
          places(argmax(from_values(std::span<const float>(numbers), {kRows, size}), 1));
      for (float& number : numbers) number = -number;
      CHECK(places(argmin(from_values(std::span<const float>(numbers), {kRows, size}), 1)) == largest);
    }
  }
  use_instruction_set(best_instruction_set());
}

TEST_CASE("a maximum of no elements is refused") {
  CHECK_THROWS_WITH(max(zeros({0})), Contains("max: there is no element to choose from") && Contains("[0]"));
  CHECK_THROWS_WITH(max(zeros({0, 3}), 0), Contains("no element to choose from"));
  CHECK_THROWS_WITH(argmin(zeros({0})), Contains("argmin: "));
  CHECK_THROWS_WITH(amax(zeros({0, 3})), Contains("amax: "));
  CHECK(max(zeros({0, 3}), 1).values.sizes() == Dims{0});
  CHECK_THROWS_WITH(max(ones({2}), 1), Contains("dimension out of range"));
  CHECK_THROWS_WITH(amax(ones({2, 2}), {0, -2}), Contains("dimension 0 appears twice"));
  CHECK_THROWS_WITH(max(Tensor()), Contains("max: a tensor is required"));
}

}  // namespace distrun::tensor
