// Elementwise functions: results, dtypes, and accuracy.
#include <catch2/catch.hpp>

#include <bit>
#include <cmath>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/ops.hpp>

#include "values.hpp"

namespace distrun::tensor {
namespace {

using Catch::Matchers::Contains;

// Returns numbers of all kinds: both signs, every exponent, infinities and NaN.
std::vector<float> all_kinds(std::uint64_t step) {
  std::vector<float> numbers{0,           -0.0F,  1,       -1,    kInfinity, -kInfinity,
                             kNotANumber, 1e-45F, -1e-45F, 0.55F, 88.8F,     1e-38F};
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += step) {
    numbers.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  return numbers;
}

// Returns the distance in units in the last place; a zero must have the right sign.
double distance(float got, double expected) {
  const auto nearest = static_cast<float>(expected);
  if (std::isnan(nearest) || std::isnan(got)) return std::isnan(nearest) == std::isnan(got) ? 0 : kInfinity;
  if (std::isinf(nearest) || std::isinf(got)) return nearest == got ? 0 : kInfinity;
  if (nearest == 0 && got == 0) return std::signbit(nearest) == std::signbit(got) ? 0 : kInfinity;
  int exponent = 0;
  std::frexp(nearest, &exponent);
  return std::abs(got - expected) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

// Checks that the results have the same bits for all instruction sets, and are at most `worst` units from exact ones.
template <class Exact>
void check_exact(const std::vector<float>& arguments, Tensor (*of)(const Tensor&), const Exact& exact, double worst) {
  const Tensor a = from_values(std::span<const float>(arguments), {static_cast<std::int64_t>(arguments.size())});
  std::vector<float> plain;
  for (const InstructionSet set : {InstructionSet::Plain, InstructionSet::Avx2, InstructionSet::Avx512}) {
    if (set > best_instruction_set()) continue;
    use_instruction_set(set);
    const std::vector<float> results = floats_of(of(a));
    if (set == InstructionSet::Plain) plain = results;
    bool is_same = true;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const bool is_none = std::isnan(results[i]) && std::isnan(plain[i]);
      is_same = is_same && (is_none || std::bit_cast<int>(results[i]) == std::bit_cast<int>(plain[i]));
    }
    INFO(name_of(set));
    CHECK(is_same);
  }
  double found = 0;
  float of_what = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const double each = distance(plain[i], exact(static_cast<double>(arguments[i])));
    if (each > found) found = each, of_what = arguments[i];
  }
  INFO("worst of " << of_what);
  CHECK(found <= worst);
}

// All pairs of numbers from both lists.
struct Pairs {
  std::vector<float> a, b;
};
Pairs pairs_of(const std::vector<float>& first, const std::vector<float>& second) {
  Pairs pairs;
  for (const float a : first) {
    for (const float b : second) pairs.a.push_back(a), pairs.b.push_back(b);
  }
  return pairs;
}
Tensor tensor_of(const std::vector<float>& values) {
  return from_values(std::span<const float>(values), {static_cast<std::int64_t>(values.size())});
}

}  // namespace

TEST_CASE("exp, log and tanh of float are exact to the last places for all kinds of numbers") {
  const std::vector<float> arguments = all_kinds(2'003);
  check_exact(
      arguments, &plain::exp, [](double x) { return std::exp(x); }, 1.1);
  check_exact(
      arguments, &plain::log, [](double x) { return std::log(x); }, 1);
  check_exact(
      arguments, &plain::tanh, [](double x) { return std::tanh(x); }, 1.5);
}

TEST_CASE("powers of float are exact to the last place for all kinds of numbers, and special cases follow C's pow()") {
  const std::vector<float> exponents{0,     -0.0F,  1,           -1,         2,          3,
                                     -3,    0.5F,   -2.5F,       7,          1e-30F,     0.1F,
                                     100.F, 33.F,   -33.F,       16777215.F, 16777216.F, -16777217.F,
                                     1e30F, -1e30F, kNotANumber, kInfinity,  -kInfinity, 1.00001F};
  for (const bool is_turned : {false, true}) {
    const Pairs made = pairs_of(all_kinds(9'000'011), is_turned ? all_kinds(90'000'011) : exponents);
    const Tensor a = tensor_of(is_turned ? made.b : made.a), b = tensor_of(is_turned ? made.a : made.b);
    const std::vector<float> bases = floats_of(a), powers = floats_of(b);
    Floats plain;
    for (const InstructionSet set : {InstructionSet::Plain, best_instruction_set()}) {
      use_instruction_set(set);
      const Floats results = floats_of(pow(a, b));
      if (plain.empty()) plain = results;
      double worst = 0, difference = 0;
      for (std::size_t i = 0; i < results.size(); ++i) {
        worst = std::max(worst, distance(results[i], std::pow(double{bases[i]}, double{powers[i]})));
        difference = std::max(difference, distance(results[i], plain[i]));
      }
      CHECK(worst <= 0.51);
      CHECK(difference == 0);
    }
  }
}

TEST_CASE("a power with a number equals that with a tensor of the number") {
  const Tensor a = tensor_of(all_kinds(50'000'017));
  for (const double exponent : {-3.5, -2.0, 0.25, 2.0, 4.0}) {
    const Floats expected = floats_of(pow(a, full(a.sizes(), exponent))), found = floats_of(pow(a, exponent));
    const Floats of_number = floats_of(pow(exponent, a)), of_tensor = floats_of(pow(full(a.sizes(), exponent), a));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(distance(found[i], expected[i]) <= 1);
      CHECK(distance(of_number[i], of_tensor[i]) == 0);
    }
  }
}

TEST_CASE("functions of double are the C library's, and integers become float32") {
  const Tensor a = from_values<double>({0.3, 2.5, 700});
  CHECK(to_vector<double>(exp(a)) == std::vector<double>{std::exp(0.3), std::exp(2.5), std::exp(700.0)});
  CHECK(to_vector<double>(log(a)) == std::vector<double>{std::log(0.3), std::log(2.5), std::log(700.0)});
  CHECK(to_vector<double>(tanh(a)) == std::vector<double>{std::tanh(0.3), std::tanh(2.5), 1});
  CHECK(to_vector<double>(rsqrt(a))[1] == 1 / std::sqrt(2.5));
  for (Tensor (*of)(const Tensor&) :
       {&plain::exp, &plain::log, &plain::tanh, &plain::sqrt, &plain::rsqrt, &plain::reciprocal}) {
    CHECK(of(i64({1, 4})).dtype() == DType::F32);
    CHECK(of(ones({2}, {DType::Bool})).dtype() == DType::F32);
  }
  CHECK(floats_of(exp(i64({0}))) == Floats{1});
  CHECK(floats_of(reciprocal(i64({4, -2, 0}))) == Floats{0.25F, -0.5F, kInfinity});
}

TEST_CASE("absolute values of all dtypes but bool, with the smallest integer unchanged") {
  CHECK(floats_of(abs(f32({-1.5F, 2, -kInfinity}))) == Floats{1.5F, 2, kInfinity});
  CHECK_FALSE(std::signbit(abs(f32({-0.0F})).item_as<float>()));
  CHECK(integers_of(abs(i64({-3, 4, INT64_MIN}))) == Integers{3, 4, INT64_MIN});
  CHECK(to_vector<std::int8_t>(abs(full({2}, -128, {DType::I8}))) == std::vector<std::int8_t>(2, -128));
  CHECK(to_vector<std::uint8_t>(abs(full({2}, 200, {DType::U8}))) == std::vector<std::uint8_t>(2, 200));
  CHECK_THROWS_WITH(abs(ones({1}, {DType::Bool})), "abs: not for elements of bool");
  CHECK(floats_of(abs_backward(f32({3, 3, 3}), f32({-2, 0, 5}))) == Floats{-3, 0, 3});
}

TEST_CASE("powers of integers are integers") {
  CHECK(integers_of(pow(i64({1, -2, 3}), 2)) == Integers{1, 4, 9});
  CHECK(integers_of(pow(i64({1, -2, 3}), 3)) == Integers{1, -8, 27});
  CHECK(integers_of(pow(i64({1, -2, 3}), i64({5, 3, 0}))) == Integers{1, -8, 1});
  CHECK(integers_of(pow(i64({1, -1, -1, 2, 0}), i64({-3, -3, -2, -1, -1}))) == Integers{1, -1, 1, 0, 0});
  CHECK(integers_of(pow(2, i64({0, 10, 63, 64}))) == Integers{1, 1024, INT64_MIN, 0});
  CHECK(to_vector<std::int8_t>(pow(full({1}, 2, {DType::I8}), full({1}, 7, {DType::I8}))) ==
        std::vector<std::int8_t>{-128});
  CHECK(integers_of(square(ones({2}, {DType::Bool}))) == Integers{1, 1});
  CHECK(floats_of(pow(i64({4, 9}), 0.5)) == Floats{2, 3});
  CHECK(floats_of(pow(i64({4, 2}), -1.0)) == Floats{0.25F, 0.5F});
  CHECK(pow(i64({2}), f32({2})).dtype() == DType::F32);
  CHECK_THROWS_WITH(pow(i64({1}), -1), Contains("integers have no integer powers below 0") && Contains("is -1"));
  CHECK_THROWS_WITH(pow(ones({1}, {DType::Bool}), true), "pow: not for elements of bool");
  CHECK_THROWS_WITH(pow(zeros({1}, {DType::U8}), 300), "pow: 300 does not fit uint8");
}

TEST_CASE("some exponents have special implementations") {
  const Tensor a = f32({-2, 0, 4, kNotANumber});
  CHECK(floats_of(pow(a, 0)) == Floats(4, 1));
  CHECK(floats_of(narrow(square(a), 0, 0, 3)) == Floats{4, 0, 16});
  CHECK(floats_of(narrow(pow(a, 3), 0, 0, 3)) == Floats{-8, 0, 64});
  CHECK(floats_of(narrow(pow(a, -1), 0, 0, 3)) == Floats{-0.5F, kInfinity, 0.25F});
  CHECK(floats_of(narrow(pow(a, -0.5), 0, 1, 2)) == Floats{kInfinity, 0.5F});
  CHECK(floats_of(narrow(pow(a, 0.5), 0, 1, 2)) == Floats{0, 2});
  CHECK(std::isnan(floats_of(pow(a, 0.5))[0]));
  const Tensor same = pow(a, 1);
  fill_(same, 7);
  CHECK(floats_of(a)[0] == -2);
}

TEST_CASE("the smaller of two elements, which is NaN if one of them is") {
  CHECK(floats_of(minimum(f32({-1, 5}), f32({0, 2}))) == Floats{-1, 2});
  CHECK(integers_of(minimum(i64({-3, 4}), i64({2, -9}))) == Integers{-3, -9});
  CHECK(flags_of(minimum(from_values({true, false}), from_values({true, true}))) == Flags{true, false});
  for (const float value : floats_of(minimum(f32({kNotANumber, 1, kNotANumber}), f32({1, kNotANumber, kNotANumber}))))
    CHECK(std::isnan(value));
}

TEST_CASE("numbers of all dtypes count as true unless they are 0") {
  const Tensor a = f32({0, -0.0F, 2, kNotANumber}), b = from_values<std::int64_t>({1, 0, 0, 5});
  CHECK(flags_of(logical_not(a)) == Flags{true, true, false, false});
  CHECK(flags_of(logical_and(a, b)) == Flags{false, false, false, true});
  CHECK(flags_of(logical_or(a, b)) == Flags{true, false, true, true});
  CHECK(flags_of(logical_xor(a, b)) == Flags{true, false, true, false});
  CHECK(logical_and(ones({2, 1}, {DType::Bool}), ones({3}, {DType::Bool})).sizes() == Dims{2, 3});
}

TEST_CASE("finite, infinite and NaN elements are distinguished") {
  const Tensor a = f32({0, -kInfinity, kNotANumber, 3e38F});
  CHECK(flags_of(isnan(a)) == Flags{false, false, true, false});
  CHECK(flags_of(isinf(a)) == Flags{false, true, false, false});
  CHECK(flags_of(isfinite(a)) == Flags{true, false, false, true});
  CHECK(flags_of(isnan(i64({1}))) == Flags{false});
  CHECK(flags_of(isinf(i64({1}))) == Flags{false});
  CHECK(flags_of(isfinite(ones({1}, {DType::Bool}))) == Flags{true});
}

TEST_CASE("in-place forms keep the dtype, count a change and refuse what does not fit") {
  const Tensor a = f32({-4, 9, 0.25F});
  abs_(a);
  CHECK(floats_of(a) == Floats{4, 9, 0.25F});
  sqrt_(a);
  CHECK(floats_of(a) == Floats{2, 3, 0.5F});
  pow_(a, 2);
  CHECK(floats_of(a) == Floats{4, 9, 0.25F});
  pow_(a, a);
  CHECK(floats_of(a)[0] == 256);
  clamp_max_(a, 2);
  CHECK(floats_of(a)[1] == 2);
  neg_(a);
  CHECK(floats_of(a)[0] == -2);
  clamp_min_(a, -1);
  CHECK(floats_of(a)[0] == -1);
  relu_(a);
  CHECK(floats_of(a) == Floats{0, 0, 0});
  exp_(a);
  CHECK(floats_of(a) == Floats{1, 1, 1});
  zero_(a), sigmoid_(a);
  CHECK(floats_of(a) == Floats{0.5F, 0.5F, 0.5F});
  tanh_(a);
  CHECK(a.version() == 12);
  const Tensor whole = i64({1, -2});
  relu_(whole), pow_(whole, 3);
  CHECK(integers_of(whole) == Integers{1, 0});
  CHECK_THROWS_WITH(exp_(whole), "exp_: result type float32 cannot be cast to the output's (int64 [2])");
  CHECK_THROWS_WITH(clamp_(whole, 0.5), Contains("clamp_min_: result type float32"));
  CHECK_THROWS_WITH(pow_(whole, 0.5), Contains("pow_: result type float32"));
  CHECK_THROWS_WITH(pow_(whole, -1), Contains("pow_: integers have no integer powers below 0"));
  CHECK_THROWS_WITH(abs_(expand(ones({1}), {2})), Contains("abs_: several elements of the output share memory"));
  CHECK(integers_of(whole) == Integers{1, 0});
}

TEST_CASE("functions that map 0 to 0 are applied to the coalesced entries of a sparse tensor") {
  const Tensor a = sparse_coo(from_values<std::int64_t>({0, 0, 2}, {1, 3}), f32({1, -3, 4}), {4});
  CHECK(floats_of(to_dense(abs(a))) == Floats{2, 0, 4, 0});
  CHECK(floats_of(to_dense(square(a))) == Floats{4, 0, 16, 0});
  CHECK(is_coalesced(sqrt(abs(a))));
  CHECK(floats_of(to_dense(sqrt(abs(a))))[3] == 0);
  CHECK_THROWS_WITH(exp(a), Contains("exp: sparse tensors are not supported"));
  CHECK_THROWS_WITH(pow(a, 3), Contains("pow: sparse tensors are not supported"));
}

}  // namespace distrun::tensor
