#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <distrun/runtime/collectives/reduction.hpp>

#include "support/error_of.hpp"

namespace distrun::collectives {
namespace {

template <class T>
T combined(ReduceOp op, T a, T b) {
  T out{};
  combine(op, tensor::dtype_of<T>, reinterpret_cast<std::byte*>(&out), reinterpret_cast<const std::byte*>(&a),
          reinterpret_cast<const std::byte*>(&b), 1);
  return out;
}

TEST_CASE("integers wrap around") {
  CHECK(combined<std::int32_t>(ReduceOp::Sum, std::numeric_limits<std::int32_t>::max(), 1) ==
        std::numeric_limits<std::int32_t>::min());
  CHECK(combined<std::uint8_t>(ReduceOp::Product, 16, 16) == 0);
  CHECK(combined<std::int16_t>(ReduceOp::Product, -300, 300) == static_cast<std::int16_t>(-90000));
  CHECK(combined<std::int64_t>(ReduceOp::Product, std::int64_t{1} << 62, 4) == 0);
}

TEST_CASE("NaN is both the minimum and the maximum") {
  const float none = std::numeric_limits<float>::quiet_NaN();
  for (const ReduceOp op : {ReduceOp::Min, ReduceOp::Max}) {
    CHECK(std::isnan(combined(op, none, 1.0F)));
    CHECK(std::isnan(combined(op, 1.0F, none)));
  }
  CHECK(combined(ReduceOp::Min, 2.0, 1.0) == 1.0);
  CHECK(combined(ReduceOp::Max, 2.0, 1.0) == 2.0);
}

TEST_CASE("bools stay bools") {
  CHECK(combined(ReduceOp::Sum, true, true));
  CHECK(!combined(ReduceOp::Product, true, false));
  CHECK(!combined(ReduceOp::BitXor, true, true));
}

TEST_CASE("bits of integers are combined, and those of other dtypes are refused") {
  CHECK(combined<std::int32_t>(ReduceOp::BitAnd, 12, 10) == 8);
  CHECK(combined<std::int32_t>(ReduceOp::BitOr, 12, 10) == 14);
  CHECK(combined<std::int32_t>(ReduceOp::BitXor, 12, 10) == 6);
  const auto check = [](ReduceOp op, DType dtype) { check_reduction("all_reduce", op, dtype, {}); };
  CHECK_NOTHROW(check(ReduceOp::BitOr, DType::Bool));
  CHECK_NOTHROW(check(ReduceOp::Avg, DType::F64));
  CHECK(testing::error_of([&] { check(ReduceOp::BitOr, DType::F32); }).text() ==
        "all_reduce: cannot use bor with float32, only with integers and bools");
  CHECK(testing::error_of([&] { check(ReduceOp::Avg, DType::I64); }).text() ==
        "all_reduce: cannot use avg with int64, only with floating-point numbers");
}

TEST_CASE("an average is divided at the end") {
  std::vector<float> numbers{4, 6};
  finish(ReduceOp::Avg, DType::F32, reinterpret_cast<std::byte*>(numbers.data()), 2, 4);
  CHECK(numbers == std::vector<float>{1, 1.5});
  finish(ReduceOp::Sum, DType::F32, reinterpret_cast<std::byte*>(numbers.data()), 2, 4);
  CHECK(numbers == std::vector<float>{1, 1.5});
}

}  // namespace
}  // namespace distrun::collectives
