#include <catch2/catch.hpp>

#include <cmath>

#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::tensor {
namespace {

using Catch::Matchers::Contains;

Tensor some() { return from_values<float>({1, 2, 4, -3, 0, 6}, {2, 3}); }
template <class Dim>
concept IsDimension = requires(const Tensor& x, Dim dim) {
  sum(x, dim);
  max(x, dim);
};

std::vector<float> list(const Tensor& tensor) { return to_vector<float>(tensor); }

}  // namespace

TEST_CASE("sums and means take a dimension as a number, a list of them, or none") {
  const Tensor a = some();
  CHECK(list(sum(a, 0)) == std::vector<float>{-2, 2, 10});
  CHECK(list(sum(a, -1, true)) == std::vector<float>{7, 3});
  CHECK(sum(a, {}).item<float>() == 10);
  CHECK(sum(a, {0, 1}).item<float>() == 10);
  CHECK(list(mean(a, 0)) == std::vector<float>{-1, 1, 5});
  CHECK(mean(a, {0, 1}, true).sizes() == Dims{1, 1});
  CHECK(std::isnan(list(mean(zeros({0, 2}), 0))[1]));
  CHECK(mean(zeros({2, 0}), 0).sizes() == Dims{0});
  CHECK_THROWS_WITH(mean(ones({2}, {DType::I32}), 0), Contains("mean: a floating dtype is required"));
  static_assert(IsDimension<int> && IsDimension<std::size_t> && !IsDimension<bool>);
}

TEST_CASE("any and all along a dimension are bool") {
  const Tensor a = from_values<float>({0, 2, 0, 0}, {2, 2});
  CHECK(to_vector<bool>(any(a, 1)) == std::vector<bool>{true, false});
  CHECK(to_vector<bool>(all(add(a, 1), 0)) == std::vector<bool>{true, true});
  CHECK(to_vector<bool>(all(a, 0, true)) == std::vector<bool>{false, false});
  CHECK(any(a).item<bool>());
  CHECK_FALSE(any(zeros({0})).item<bool>());
  CHECK(to_vector<bool>(all(zeros({0, 2}), 0)) == std::vector<bool>{true, true});
  CHECK(any(full({}, std::nan("")), 0).item<bool>());
}

TEST_CASE("variances and deviations, unbiased by default") {
  const Tensor a = some();
  CHECK(var(a).item<float>() == Approx(9.8666667));
  CHECK(var(a, false).item<float>() == Approx(8.2222222));
  CHECK(list(var(a, 0))[0] == Approx(8));
  CHECK(list(var(a, 1, false))[1] == Approx(14));
  CHECK(standard_deviation(a, {0, 1}).item<float>() == Approx(std::sqrt(9.8666667)));
  CHECK(list(standard_deviation(t(a), 0)) == list(standard_deviation(a, 1)));
  CHECK(equal(var(a, {0}), var(a, 0)));
  CHECK(equal(var(a, {}), var(a)));
  CHECK(std::isnan(var(ones({1})).item<float>()));
  CHECK(var(ones({1}), false).item<float>() == 0);
  CHECK(std::isnan(var(zeros({0}), false).item<float>()));
  CHECK(var(from_values<float>({1e8F, 1e8F + 8})).item<float>() == 32);
  CHECK_THROWS_WITH(var(ones({2}, {DType::I64})), Contains("var: a floating dtype is required"));
}

TEST_CASE("norms") {
  const Tensor a = some();
  CHECK(norm(a).item<float>() == Approx(std::sqrt(66.0)));
  CHECK(list(norm(a, 1, 0)) == std::vector<float>{4, 2, 10});
  CHECK(list(norm(a, INFINITY, {1})) == std::vector<float>{4, 6});
  CHECK(list(norm(a, -INFINITY, 1, true)) == std::vector<float>{1, 0});
  CHECK(norm(a, 0).item<float>() == 5);
  CHECK(norm(zeros({0})).item<float>() == 0);
  CHECK(norm(zeros({0}), INFINITY).item<float>() == 0);
  CHECK(norm(full({2}, 1e30F)).item<float>() == Approx(1.4142136e30F));
  CHECK_THROWS_WITH(norm(a, 3), Contains("norm: p must be 0, 1, 2 or infinity, not 3"));
  CHECK_THROWS_WITH(norm(ones({2}, {DType::I64})), Contains("norm: a floating dtype is required"));
}

TEST_CASE("sums and products along a dimension") {
  const Tensor a = some();
  CHECK(list(cumsum(a, 1)) == std::vector<float>{1, 3, 7, -3, -3, 3});
  CHECK(list(cumsum(a, 0)) == std::vector<float>{1, 2, 4, -2, 2, 10});
  CHECK(cumsum(ones({3}, {DType::I32}), 0).dtype() == DType::I64);
  CHECK(to_vector<std::int64_t>(cumsum(from_values<bool>({true, false, true}), 0)) ==
        std::vector<std::int64_t>{1, 1, 2});
  CHECK(cumsum(full({}, 3), 0).item<float>() == 3);
  CHECK(list(cumsum(from_values<float>({1e8F, 1, -1e8F}), 0))[2] == 1);
  CHECK(cumsum(ones({2, 600}), 0).sizes() == Dims{2, 600});
  CHECK(sum(cumsum(ones({2, 600}), 0)).item<float>() == 1800);
  CHECK(prod(from_values<float>({2, 3, 4})).item<float>() == 24);
  CHECK(list(prod(a, 0)) == std::vector<float>{-3, 0, 24});
  CHECK(prod(a, 1, true).sizes() == Dims{2, 1});
  CHECK(prod(zeros({0})).item<float>() == 1);
  CHECK(prod(full({2}, 200, {DType::U8})).item<int>() == 40000);
  CHECK_THROWS_WITH(cumsum(a, 2), Contains("cumsum: dimension out of range"));
}

TEST_CASE("the gradient of a product is right even if intermediate products overflow float32") {
  const auto third_of = [](const Tensor& factors) { return list(prod_gradient(ones({}), factors, 0))[2]; };
  CHECK(third_of(from_values<float>({1e30F, 1e30F, 2, 1e-30F})) == Approx(1e30));
  CHECK(third_of(from_values<float>({1e-30F, 1e-30F, 2, 1e30F})) == Approx(1e-30).epsilon(1e-6));
  // Lines along the other dimension.
  const Tensor both = prod_gradient(ones({2}), from_values<float>({2, 3, 5, 7}, {2, 2}), 0);
  CHECK(list(both) == std::vector<float>{5, 7, 2, 3});
}

}  // namespace distrun::tensor
