// Operators that choose between elements: where(), clamps, and the elements kept by dropout.
#include <catch2/catch.hpp>

#include <cmath>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/ops.hpp>

#include "support/gpus.hpp"
#include "values.hpp"

namespace distrun::tensor {
namespace {

using Catch::Matchers::Contains;

}  // namespace

TEST_CASE("where() takes elements of either of two tensors or numbers") {
  const Tensor flags = from_values({true, false, true}), a = f32({1, 2, 3}), b = f32({10, 20, 30});
  CHECK(floats_of(where(flags, a, b)) == Floats{1, 20, 3});
  CHECK(floats_of(where(flags, a, 0.5)) == Floats{1, 0.5F, 3});
  CHECK(floats_of(where(flags, 7, b)) == Floats{7, 20, 7});
  CHECK(floats_of(where(flags, 1.5, 2)) == Floats{1.5F, 2, 1.5F});
  CHECK(integers_of(where(flags, 1, 2)) == Integers{1, 2, 1});
  CHECK(where(flags, true, false).dtype() == DType::Bool);
}

TEST_CASE("where() promotes as a sum does") {
  const Tensor flags = from_values({true, false, true});
  const Tensor whole = i64({1, 2, 3});
  CHECK(where(flags, whole, 0.5).dtype() == DType::F32);
  CHECK(where(flags, whole, ones({}, {DType::F64})).dtype() == DType::F64);
  CHECK(where(flags, whole, ones({3}, {DType::U8})).dtype() == DType::I64);
  CHECK(where(flags, ones({3}), ones({}, {DType::F64})).dtype() == DType::F32);
  CHECK_THROWS_WITH(where(whole, whole, whole), Contains("where: the condition must be bool") && Contains("int64 [3]"));
  CHECK_THROWS_WITH(where(flags, ones({3}, {DType::U8}), 300), "where: 300 does not fit uint8");
}

TEST_CASE("all three inputs of where() broadcast") {
  const Tensor column = from_values({true, false}, {2, 1}), row = f32({1, 2, 3});
  const Tensor number = full({}, 9);
  CHECK(floats_of(where(column, row, number)) == Floats{1, 2, 3, 9, 9, 9});
  CHECK(floats_of(where(full({}, true, {DType::Bool}), row, zeros({2, 1}))) == Floats{1, 2, 3, 1, 2, 3});
  CHECK(floats_of(where(t(column), 0, ones({2, 2}))) == Floats{0, 1, 0, 1});
  CHECK(where(zeros({0, 1}, {DType::Bool}), row, row).sizes() == Dims{0, 3});
  CHECK_THROWS_WITH(where(column, row, ones({4})), Contains("where: ") && Contains("(4)"));
}

TEST_CASE("where() supports every dtype, with any layout of its inputs") {
  for (int i = 0; i < kDTypeCount; ++i) {
    const DType dtype = static_cast<DType>(i);
    const Tensor a = to(ones({70, 3}), dtype), b = to(zeros({3, 70}), dtype);
    const Tensor flags = ne(to(view(arange(210), {70, 3}), DType::F32), 5);
    const Tensor chosen = where(flags, a, t(b));
    CHECK(chosen.dtype() == dtype);
    CHECK(sum(to(chosen, DType::I64)).item_as<std::int64_t>() == 209);
    CHECK(equal(where(t(flags), t(a), b), t(chosen)));
    CHECK(equal(where(flags, a, 0), to(chosen, result_type(a, 0))));
  }
}

TEST_CASE("clamp() keeps to its bounds, and the upper one wins") {
  const Tensor a = f32({-2, 0.5F, 3, kNotANumber});
  CHECK(floats_of(narrow(clamp(a, -1, 1), 0, 0, 3)) == Floats{-1, 0.5F, 1});
  CHECK(floats_of(narrow(clamp(a, 0), 0, 0, 3)) == Floats{0, 0.5F, 3});
  CHECK(floats_of(narrow(clamp(a, {}, 0), 0, 0, 3)) == Floats{-2, 0, 0});
  CHECK(floats_of(narrow(clamp_max(a, 1), 0, 0, 3)) == Floats{-2, 0.5F, 1});
  CHECK(floats_of(narrow(clamp(a, 3, 1), 0, 0, 3)) == Floats{1, 1, 1});
  for (const Tensor& clamped : {clamp(a, -1, 1), clamp_max(a, 1)}) CHECK(std::isnan(floats_of(clamped)[3]));
  for (const Tensor& none : {clamp(a, kNotANumber, 1), clamp(a, 1, kNotANumber), clamp_max(a, kNotANumber)}) {
    for (const float value : floats_of(none)) CHECK(std::isnan(value));
  }
}

TEST_CASE("bounds take part in promotion, and must fit") {
  const Tensor whole = i64({-3, 1, 4});
  CHECK(integers_of(clamp(whole, 0, 2)) == Integers{0, 1, 2});
  CHECK(floats_of(clamp(whole, 0.5, 2)) == Floats{0.5F, 1, 2});
  CHECK(floats_of(clamp(whole, 0, 2.5)) == Floats{0, 1, 2.5F});
  CHECK(clamp(whole, kNotANumber, 1).dtype() == DType::F32);
  CHECK(integers_of(clamp(ones({2}, {DType::Bool}), 0, 1)) == Integers{1, 1});
  CHECK_THROWS_WITH(clamp(zeros({1}, {DType::U8}), -1, 300), "clamp: -1 does not fit uint8");
  CHECK_THROWS_WITH(clamp(whole, {}), "clamp: at least one bound is required (int64 [3])");
}

TEST_CASE("clamp_() changes in place, also to NaN") {
  const Tensor a = f32({-2, 0.5F, 3});
  clamp_(a, -1, 1);
  CHECK(floats_of(a) == Floats{-1, 0.5F, 1});
  clamp_(t(view(a, {1, 3})), {}, 0);
  CHECK(floats_of(a) == Floats{-1, 0, 0});
  clamp_(a, kNotANumber, 2);
  CHECK(std::isnan(floats_of(a)[0]));
  CHECK(a.version() == 3);
  CHECK_THROWS_WITH(clamp_(i64({1}), 0, 1.5), Contains("clamp_: result type float32"));
}

TEST_CASE("choices are the same on every set of instructions") {
  const Tensor a = randn({1001}), b = randn({1001}), flags = gt(a, b);
  const auto choose = [&] { return std::vector{where(flags, a, b), clamp(a, -0.5, 0.25), maximum_backward(a, a, b)}; };
  use_instruction_set(InstructionSet::Plain);
  const std::vector<Tensor> plain = choose();
  CHECK(equal(plain[0], maximum(a, b)));
  use_instruction_set(best_instruction_set());
  const std::vector<Tensor> best = choose();
  for (std::size_t i = 0; i < plain.size(); ++i) CHECK(equal(best[i], plain[i]));
}

TEST_CASE("equal elements each get half of the gradient") {
  const Tensor gradient = f32({8, 8, 8, 8}), a = f32({1, 2, 3, kNotANumber}), b = f32({1, 1, 4, 0});
  CHECK(floats_of(maximum_backward(gradient, a, b)) == Floats{4, 8, 0, 8});
  CHECK(floats_of(minimum_backward(gradient, a, b)) == Floats{4, 0, 8, 8});
}

TEST_CASE("dropout keeps the given share of elements, the same ones on every device") {
  Generator generator(3), again(3);
  const Tensor kept = dropout_mask({100'000}, 0.3, device::kCpu, generator);
  const double count = static_cast<double>(sum(kept).item_as<std::int64_t>());
  CHECK(std::abs(count / 100'000 - 0.7) < 0.01);
  testing::use_gpus();
  CHECK(equal(to(dropout_mask({100'000}, 0.3, device::cuda(0), again), device::kCpu), kept));
  CHECK_FALSE(equal(dropout_mask({100'000}, 0.3, device::kCpu, generator), kept));
  CHECK(all(dropout_mask({1001}, 0, device::kCpu)).item_as<bool>());
  CHECK(sum(dropout_mask({1001}, 1, device::kCpu)).item_as<std::int64_t>() == 0);
  CHECK(dropout_mask({0, 3}, 0.5, device::kCpu).numel() == 0);
}

TEST_CASE("dropout scales the elements that it keeps, and the others are 0 with their sign") {
  const Tensor scaled = keep_scaled(from_values({true, false, true}), f32({1, -2, 3}), 4);
  CHECK(floats_of(scaled) == Floats{4, 0, 12});
  CHECK(std::signbit(floats_of(scaled)[1]));
  CHECK(std::isnan(floats_of(keep_scaled(from_values({false}), f32({kNotANumber}), 2))[0]));
}

}  // namespace distrun::tensor
