#include <catch2/catch.hpp>

#include <cmath>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::tensor {
namespace {

using Catch::Matchers::Contains;

}  // namespace

TEST_CASE("dtypes have names, old names and an order") {
  CHECK(name_of(DType::F32) == "float32");
  CHECK(parse_dtype("double") == DType::F64);
  CHECK(parse_dtype("long") == DType::I64);
  CHECK(parse_dtype("bool") == DType::Bool);
  CHECK_THROWS_WITH(parse_dtype("complex64"), Contains("there is no dtype `complex64`; there are bool, uint8"));
  CHECK(promote(DType::U8, DType::I8) == DType::I16);
  CHECK(promote(DType::I64, DType::F32) == DType::F32);
  CHECK(promote(DType::Bool, DType::I8) == DType::I8);
  CHECK(promote(DType::U8, DType::I16) == DType::I16);
}

TEST_CASE("promotion does not depend on the order") {
  for (int i = 0; i < kDTypeCount; ++i) {
    CHECK(promote(static_cast<DType>(i), static_cast<DType>(i)) == static_cast<DType>(i));
    for (int j = 0; j < kDTypeCount; ++j) {
      CHECK(promote(static_cast<DType>(i), static_cast<DType>(j)) ==
            promote(static_cast<DType>(j), static_cast<DType>(i)));
    }
  }
}

TEST_CASE("numbers know their type") {
  CHECK(to_string(Scalar(true)) == "true");
  CHECK(to_string(Scalar(-3)) == "-3");
  CHECK(to_string(Scalar(2.0)) == "2.0");
  CHECK(to_string(Scalar(0.1)) == "0.1");
  CHECK(to_string(Scalar(1e300)) == "1e+300");
  CHECK(Scalar(2.9).to<int>() == 2);
  CHECK(Scalar(1e30).to<std::int64_t>() == INT64_MIN);
  CHECK(Scalar(0.5).to<bool>());
  CHECK(Scalar(3U).dtype() == DType::I64);
  CHECK(Scalar(std::uint64_t{INT64_MAX}).to<std::int64_t>() == INT64_MAX);
  CHECK_THROWS_WITH(Scalar(std::uint64_t{1} << 63),
                    "9223372036854775808 exceeds int64; pass it as a floating-point number");
  CHECK_THROWS_WITH(full({1}, ~std::uint64_t{0}, {DType::F64}), Contains("18446744073709551615 exceeds"));
  CHECK(Scalar(1.0F).dtype() == DType::F64);
  static_assert(!std::is_constructible_v<Scalar, const char*>);
}

TEST_CASE("copies of a handle are one tensor") {
  const Tensor a = ones({2});
  const Tensor b = a;
  CHECK(a.is_same(b));
  CHECK(a.use_count() == 2);
  CHECK_FALSE(Tensor().defined());
  CHECK(a.size(-1) == 2);
  CHECK_THROWS_WITH(a.size(1), Contains("size: dimension out of range"));
  CHECK_THROWS_WITH(ones({}).size(-1), "size: a tensor without dimensions has no dimension -1 (float32 [])");
  CHECK_THROWS_WITH(a.data_as<double>(), "elements of float32 [2] cannot be viewed as float64");
}

TEST_CASE("tensors are created from numbers and values, and read back") {
  CHECK(scalar_tensor(3).dtype() == DType::I64);
  CHECK(scalar_tensor(0.5).dtype() == DType::F32);
  CHECK(scalar_tensor(true).dtype() == DType::Bool);
  CHECK(scalar_tensor(0.5, {DType::F64}).item_as<double>() == 0.5);
  CHECK(from_values<double>({1, 2, 3}).sizes() == Dims{3});
  CHECK(to_vector<bool>(from_values<bool>({true, false})) == std::vector<bool>{true, false});
  CHECK_THROWS_WITH(from_values<float>({1, 2}, {3}), "from_values: 2 values do not fill sizes [3]");
  CHECK_THROWS_AS(to_vector<float>(ones({1}, {DType::F64})), Error);
  CHECK(to_vector<std::int8_t>(full({2}, -1, {DType::I8})) == std::vector<std::int8_t>{-1, -1});
  CHECK(full({}, 7, {DType::U8}).item_as<int>() == 7);
  CHECK(ones({1}, {DType::Bool}).item().to<bool>() == true);
}

TEST_CASE("sizes beyond any memory are refused") {
  CHECK_THROWS_AS(empty({INT64_MAX, 2}), Error);
  CHECK_THROWS_AS(empty({INT64_MAX / 4}, {DType::F64}), Error);
  CHECK_THROWS_AS(empty({-1}), Error);
  CHECK(empty({0, INT64_MAX}).numel() == 0);
}

TEST_CASE("like another: sizes, dtype and device") {
  const Tensor a = t(ones({2, 3}, {DType::I16}));
  CHECK(zeros_like(a).sizes() == Dims{3, 2});
  CHECK(ones_like(a).dtype() == DType::I16);
  CHECK(empty_like(a).is_contiguous());
  CHECK(full_like(a, 5).strided().contiguous);
}

TEST_CASE("every dtype converts to every other") {
  const Tensor values = from_values<double>({0, 1, 2.75, 100});
  for (int i = 0; i < kDTypeCount; ++i) {
    const Tensor from = to(values, static_cast<DType>(i));
    for (int j = 0; j < kDTypeCount; ++j) {
      const Tensor there = to(from, static_cast<DType>(j));
      CHECK(there.dtype() == static_cast<DType>(j));
      const double last = i == 0 || j == 0 ? 1 : 100;
      CHECK(to_vector<double>(to(there, DType::F64)).back() == last);
    }
  }
  CHECK(to_vector<std::int32_t>(to(values, DType::I32)) == std::vector<std::int32_t>{0, 1, 2, 100});
  CHECK(to_vector<bool>(to(full({1}, std::nan("")), DType::Bool)) == std::vector<bool>{true});
  CHECK(to_vector<std::int64_t>(to(full({1}, 1e30, {DType::F64}), DType::I64)) == std::vector<std::int64_t>{INT64_MIN});
  const Tensor beyond = from_values<double>({-1e30, 3e9, std::nan("")});
  CHECK(to_vector<std::int32_t>(to(beyond, DType::I32)) == std::vector<std::int32_t>(3, INT32_MIN));
  CHECK(to(values, DType::F64).is_same(values));
}

TEST_CASE("copy_ broadcasts, converts and counts as a change") {
  const Tensor out = zeros({2, 3});
  copy_(out, from_values<std::int64_t>({1, 2, 3}));
  CHECK(to_vector<float>(out) == std::vector<float>{1, 2, 3, 1, 2, 3});
  CHECK(out.version() == 1);
  copy_(t(out), from_values<float>({7, 8}));
  CHECK(to_vector<float>(out) == std::vector<float>{7, 7, 7, 8, 8, 8});
  const Tensor square = view(arange(4), {2, 2});
  copy_(square, t(square));
  CHECK(to_vector<std::int64_t>(square) == std::vector<std::int64_t>{0, 2, 1, 3});
  CHECK_THROWS_WITH(copy_(out, ones({4})),
                    "copy_: the source cannot be expanded to the output (float32 [2, 3] and float32 [4])");
  fill_(select(out, 0, 0), 9);
  CHECK(to_vector<float>(out) == std::vector<float>{9, 9, 9, 8, 8, 8});
  zero_(out);
  CHECK(sum(out).item_as<float>() == 0);
}

TEST_CASE("contiguous() returns a contiguous tensor itself, and clone() never does") {
  const Tensor a = ones({2, 3});
  CHECK(contiguous(a).is_same(a));
  CHECK_FALSE(clone(a).is_same(a));
  CHECK(contiguous(t(a)).is_contiguous());
  CHECK(t(ones({1, 3})).is_contiguous());
  CHECK(contiguous(expand(ones({1}), {3})).strides() == Dims{1});
}

}  // namespace distrun::tensor
