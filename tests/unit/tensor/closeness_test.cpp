#include <catch2/catch.hpp>

#include <cmath>

#include <distrun/runtime/tensor/closeness.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::tensor {
namespace {

std::string text(const Tensor& actual, const Tensor& expected, const CompareOptions& options = {}) {
  return difference(actual, expected, options).value_or("");
}

}  // namespace

TEST_CASE("numbers are close within the tolerance of their dtype") {
  CHECK(text(full({1}, 1.00001F), ones({1})) == "");
  CHECK(text(full({1}, 1000.001F), full({1}, 1000)) == "");
  CHECK_FALSE(is_close(full({1}, 1.00002F), ones({1})));
  CHECK(is_close(full({1}, 1 + 1.5e-7, {DType::F64}), ones({1}, {DType::F64})));
  CHECK_FALSE(is_close(full({1}, 1 + 3e-7, {DType::F64}), ones({1}, {DType::F64})));
  CHECK_FALSE(is_close(full({1}, 2, {DType::I64}), full({1}, 3, {DType::I64})));
  CHECK(is_close(full({1}, 2, {DType::I64}), full({1}, 3, {DType::I64}), {Tolerance{0, 1}}));
}

TEST_CASE("differences are reported with index and values") {
  const Tensor a = view(from_values<float>({1, 2, 3, 4}), {2, 2});
  const Tensor b = view(from_values<float>({1, 2.5F, 3, 8}), {2, 2});
  CHECK(text(a, b) ==
        "2 of 4 elements differ by more than 1e-05 + 1.3e-06 |expected|; the first at [0, 1]: 2, expected 2.5; the "
        "greatest by 4 at [1, 1]: 4, expected 8");
  CHECK(text(arange(2), from_values<std::int64_t>({0, 5})) ==
        "1 of 2 elements differ; the first at [1]: 1, expected 5");
  CHECK(text(ones({}), zeros({})) ==
        "1 of 1 elements differ by more than 1e-05 + 1.3e-06 |expected|; the first at []: 1, expected 0");
}

TEST_CASE("large integers are compared as integers") {
  const std::int64_t large = (std::int64_t{1} << 60) + 1;
  CHECK_FALSE(is_close(full({1}, large, {DType::I64}), full({1}, large - 1, {DType::I64})));
}

TEST_CASE("sizes, dtypes and layouts must agree, unless disabled") {
  CHECK(text(ones({2}), ones({3})) == "float32 [2], expected float32 [3]");
  CHECK(text(ones({2}), ones({2}, {DType::F64})) == "float32 [2], expected float64 [2]");
  CompareOptions any_dtype;
  any_dtype.check_dtype = false;
  CHECK(text(ones({2}), ones({2}, {DType::I64}), any_dtype) == "");
  CHECK(text(Tensor(), ones({1})) == "undefined, expected float32 [1]");
  CHECK(text(Tensor(), Tensor()) == "");
  const Tensor s = sparse_coo(from_values<std::int64_t>({0}, {1, 1}), ones({1}), {2});
  CHECK(text(s, ones({2})) == "sparse float32 [2], expected float32 [2]");
}

TEST_CASE("NaN and infinities") {
  const Tensor nan = full({1}, std::nan("")), infinite = full({1}, INFINITY);
  CHECK(is_close(nan, nan));
  CompareOptions strict;
  strict.equal_nan = false;
  CHECK_FALSE(is_close(nan, nan, strict));
  CHECK(is_close(infinite, infinite));
  CHECK_FALSE(is_close(infinite, neg(infinite)));
  CHECK_FALSE(is_close(infinite, ones({1})));
  CHECK_FALSE(is_close(nan, ones({1})));
  CHECK(is_close(zeros({0, 3}), zeros({0, 3})));
}

TEST_CASE("sparse tensors are compared after coalescing") {
  const auto make = [](std::initializer_list<std::int64_t> indices, std::initializer_list<float> values) {
    return sparse_coo(from_values(indices, {1, static_cast<std::int64_t>(indices.size())}), from_values(values), {4});
  };
  CHECK(text(make({1, 1, 0}, {1, 2, 5}), make({0, 1}, {5, 3})) == "");
  CHECK(text(make({1}, {1}), make({0, 1}, {5, 3})) == "1 entries in 1 sparse dimensions, expected 2 in 1");
  CHECK(text(make({1}, {1}), make({2}, {1})) == "indices: 1 of 1 elements differ; the first at [0, 0]: 1, expected 2");
  CHECK(text(make({1}, {1}), make({1}, {2})).substr(0, 25) == "values: 1 of 1 elements d");
}

TEST_CASE("allclose is that of PyTorch: broadcast, with its default tolerances") {
  CHECK(allclose(full({2, 3}, 1.000009F), ones({3})));
  CHECK_FALSE(allclose(full({2, 3}, 1.00002F), ones({3})));
  CHECK(allclose(full({1}, 1.5), ones({1}), 0.5));
  CHECK(allclose(full({1}, 1e-9), zeros({1})));
  CHECK_FALSE(allclose(full({1}, 1e-3), zeros({1})));
  CHECK(allclose(full({1}, 1e-3), zeros({1}), 0, 1e-2));
  const Tensor nan = full({1}, std::nan(""));
  CHECK_FALSE(allclose(nan, nan));
  CHECK(allclose(nan, nan, 0, 0, true));
  CHECK_THROWS_WITH(allclose(ones({1}), ones({1}, {DType::F64})), Catch::Contains("same dtype"));
  CHECK_THROWS_WITH(allclose(ones({2}), ones({3})), Catch::Contains("must match the size"));
}

TEST_CASE("a closeness check reports the worst elements with their indices") {
  CHECK(check_close(ones({2}), full({2}, 1.1F), 0, 0.2) == "");
  const Tensor a = view(from_values<float>({1, 2, 3, 4.1F}), {2, 2});
  const Tensor b = view(from_values<float>({1, 2.5F, 3, 8}), {2, 2});
  CHECK(check_close(a, b, 1e-3, 1e-6) ==
        "2 of 4 elements differ by more than 1e-06 + 0.001 |expected|:\n"
        "    [1, 1]: 4.1, expected 8 (differs by 3.9000000953674316)\n"
        "    [0, 1]: 2, expected 2.5 (differs by 0.5)");
  const std::string many = check_close(arange(7), zeros({7}, {DType::I64}), 0, 0);
  CHECK_THAT(many, Catch::StartsWith("6 of 7 elements differ by more than 0 + 0 |expected|, the worst:\n    [6]: 6, "
                                     "expected 0 (differs by 6)\n    [5]: "));
  CHECK_THAT(many, !Catch::Contains("[1]"));
  const Tensor nan = from_values<double>({9, std::nan("")});
  CHECK_THAT(check_close(nan, from_values<double>({1, 2}), 0, 0), Catch::Contains(":\n    [1]: nan, expected 2 ("));
  CHECK(check_close(nan, nan, 0, 0) != "");
  CHECK(check_close(ones({2}), ones({3}), 0, 0) == "float32 [2], expected float32 [3]");
}

}  // namespace distrun::tensor
