#include <catch2/catch.hpp>

#include <cmath>
#include <set>

#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::tensor {
namespace {

using Catch::Matchers::Contains;
using Whole = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("arange goes from start to end by a step, in int64 or float32") {
  CHECK(to_vector<std::int64_t>(arange(2, 5)) == Whole{2, 3, 4});
  CHECK(to_vector<std::int64_t>(arange(5, 0, -2)) == Whole{5, 3, 1});
  CHECK(to_vector<float>(arange(0, 1, 0.25)) == std::vector<float>{0, 0.25, 0.5, 0.75});
  CHECK(to_vector<float>(arange(2.5)) == std::vector<float>{0, 1, 2});
  CHECK(arange(3).dtype() == DType::I64);
  CHECK(arange(0, 3, 1, DType::F64).dtype() == DType::F64);
  CHECK(arange(0, 3, 1, DType::I16).dtype() == DType::I16);
  CHECK(arange(3, 3).numel() == 0);
  CHECK(arange(INT64_MAX - 1, INT64_MAX).item<std::int64_t>() == INT64_MAX - 1);
  CHECK_THROWS_WITH(arange(5, 0), Contains("arange: from 5 a step of 1 leads away from 0"));
  // In float64 both ends are equal.
  CHECK_THROWS_WITH(arange(INT64_MAX, INT64_MAX - 1, std::int64_t{1} << 40), Contains("leads away from"));
  CHECK_THROWS_WITH(arange(INT64_MIN, INT64_MIN + 1, -1), Contains("leads away from"));
  CHECK_THROWS_WITH(arange(0, 5, 0), Contains("the step must not be 0"));
  CHECK_THROWS_WITH(arange(0, std::nan("")), Contains("there is no range"));
  CHECK_THROWS_WITH(arange(0, 300, 1, DType::U8), Contains("299 does not fit uint8"));
  CHECK_THROWS_WITH(arange(INT64_MIN, INT64_MAX), Contains("more numbers than can be counted"));
}

TEST_CASE("linspace includes both ends") {
  CHECK(to_vector<float>(linspace(0, 1, 5)) == std::vector<float>{0, 0.25, 0.5, 0.75, 1});
  CHECK(to_vector<float>(linspace(3, -3, 3)) == std::vector<float>{3, 0, -3});
  CHECK(to_vector<float>(linspace(2, 9, 1)) == std::vector<float>{2});
  CHECK(linspace(0, 1, 0).numel() == 0);
  CHECK(to_vector<std::int64_t>(linspace(0, 10, 4, DType::I64)) == Whole{0, 3, 6, 10});
  CHECK(to_vector<double>(linspace(0, 0.7, 8, DType::F64)).back() == 0.7);
  CHECK_THROWS_WITH(linspace(0, 1, -1), Contains("must not be negative"));
}

TEST_CASE("randint stays in its range, covers all of it, and is reproducible with a seed") {
  Generator generator(3), again(3);
  const Tensor numbers = randint(-2, 3, {4000}, {DType::I64, {}}, generator);
  const Whole all = to_vector<std::int64_t>(numbers);
  CHECK(std::set<std::int64_t>(all.begin(), all.end()) == std::set<std::int64_t>{-2, -1, 0, 1, 2});
  CHECK(std::abs(sum(numbers).item<double>()) < 400);
  CHECK(equal(numbers, randint(-2, 3, {4000}, {DType::I64, {}}, again)));
  CHECK_FALSE(equal(numbers, randint(-2, 3, {4000}, {DType::I64, {}}, again)));
  CHECK(randint(10, {2, 2}).dtype() == DType::I64);
  CHECK(randint(0, 256, {3}, {DType::U8}).dtype() == DType::U8);
  CHECK(randint(9, {3}, DType::F32).dtype() == DType::F32);
  CHECK(to_vector<std::int64_t>(randint(INT64_MAX - 1, INT64_MAX, {2})) == Whole{INT64_MAX - 1, INT64_MAX - 1});
  CHECK_THROWS_WITH(randint(3, 3, {2}), Contains("randint: the range from 3 to 3 (excluded) is empty"));
  CHECK_THROWS_WITH(randint(0, 300, {2}, {DType::U8}), Contains("299 does not fit uint8"));
}

TEST_CASE("randint refuses floating dtypes that cannot represent each of its numbers") {
  constexpr std::int64_t kSingle = std::int64_t{1} << 24, kDouble = std::int64_t{1} << 53;
  CHECK(max(randint(-kSingle, kSingle + 1, {1000}, DType::F32)).item<double>() <= 0x1p24);
  CHECK(randint(-kDouble, kDouble + 1, {3}, DType::F64).dtype() == DType::F64);
  CHECK_THROWS_WITH(randint(0, 2 * kSingle, {3}, DType::F32),
                    "randint: 33554431 is outside the range in which float32 represents every integer, -16777216 to "
                    "16777216; use int64");
  CHECK_THROWS_WITH(randint(-kSingle - 1, 0, {3}, DType::F32), Contains("-16777217 is outside the range"));
  CHECK_THROWS_WITH(randint(kDouble + 2, {3}, DType::F64), Contains("9007199254740993 is outside the range"));
  CHECK(randint(2 * kSingle, {3}).dtype() == DType::I64);
}

TEST_CASE("randperm contains every number once") {
  Generator generator(5);
  Whole order = to_vector<std::int64_t>(randperm(101, device::kCpu, generator));
  CHECK(order != to_vector<std::int64_t>(arange(101)));
  std::sort(order.begin(), order.end());
  CHECK(order == to_vector<std::int64_t>(arange(101)));
  CHECK(randperm(0).sizes() == Dims{0});
  CHECK_THROWS_WITH(randperm(-1), Contains("must not be negative"));
}

TEST_CASE("bernoulli follows the probabilities") {
  Generator generator(7);
  CHECK(sum(bernoulli(full({4000}, 0.25), generator)).item<float>() == Approx(1000).margin(120));
  CHECK(to_vector<float>(bernoulli(from_values<float>({0, 1, 0, 1}))) == std::vector<float>{0, 1, 0, 1});
  CHECK_THROWS_WITH(bernoulli(full({1}, 1.5)), Contains("probabilities must be in the range 0 to 1"));
  CHECK_THROWS_WITH(bernoulli(full({1}, std::nan(""))), Contains("probabilities must be in the range 0 to 1"));
  CHECK_THROWS_WITH(bernoulli(ones({1}, {DType::I64})), Contains("bernoulli: a floating dtype is required"));
}

}  // namespace distrun::tensor
