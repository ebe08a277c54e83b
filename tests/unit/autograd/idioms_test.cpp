// Idioms of the field as users type them: they compile and have the expected meaning.
#include <catch2/catch.hpp>

#include <distrun/tensors.hpp>

namespace distrun {
namespace {

Tensor counted(const Dims& sizes) { return reshape(to(arange(device::count_of(sizes)), F64), sizes); }
std::vector<double> numbers(const Tensor& tensor) { return tensor::to_vector<double>(to(tensor, F64)); }

}  // namespace

TEST_CASE("one number in place of sizes is one dimension") {
  CHECK(zeros(3).sizes() == Dims{3});
  CHECK(ones(2, F64).dtype() == F64);
  CHECK(counted({2, 3}).view(-1).sizes() == Dims{6});
  CHECK(reshape(counted({2, 3}), -1).sizes() == Dims{6});
  CHECK(from_values(std::vector<float>{1, 2}, 2).sizes() == Dims{2});
  CHECK(from_values(std::vector<float>{1, 2, 3}).sizes() == Dims{3});
}

TEST_CASE("a bool and a dimension select different overloads") {
  const Tensor x = counted({3, 4});
  CHECK(x.var(0).sizes() == Dims{4});
  CHECK(x.var(1).sizes() == Dims{3});
  CHECK(numbers(x.var(1, false)) == std::vector<double>{1.25, 1.25, 1.25});
  CHECK(x.var(true).sizes().empty());
  CHECK(x.var().item<double>() == Approx(13));
  CHECK(x.var(false).item<double>() == Approx(143.0 / 12));
}

TEST_CASE("norms without a p are those of p = 2") {
  const Tensor x = from_values<double>({3, 4});
  CHECK(norm(x).item<double>() == 5);
  CHECK(norm(x, {}).item<double>() == 5);
  CHECK(norm(x, {}, {}).item<double>() == 5);
  CHECK(x.norm().item<double>() == 5);
  CHECK(x.norm(1).item<double>() == 7);
  CHECK(numbers(counted({2, 2}).norm(2, 1)) == std::vector<double>{1, std::sqrt(13.0)});
}

TEST_CASE("one number stands for both sizes of an image") {
  const Tensor x = ones({1, 1, 6, 6}), w = ones({1, 1, 3, 3});
  CHECK(conv2d(x, w, {}, {.padding = 1}).sizes() == Dims{1, 1, 6, 6});
  CHECK(conv2d(x, w, {}, {.padding = {1}}).sizes() == Dims{1, 1, 6, 6});
  CHECK(conv2d(x, w, {}, {.stride = 2, .padding = 1}).sizes() == Dims{1, 1, 3, 3});
  CHECK(conv2d(x, w, {}, {.stride = {1, 2}, .padding = {0, 1}}).sizes() == Dims{1, 1, 4, 3});
  CHECK(max_pool2d(x, {.window = 3, .stride = 2, .padding = 1}).sizes() == Dims{1, 1, 3, 3});
  CHECK(max_pool2d(x, {3, 1, 1}).sizes() == Dims{1, 1, 6, 6});
  CHECK(max_pool2d(x, {2}).sizes() == Dims{1, 1, 3, 3});
}

TEST_CASE("masks are combined with operators, and numbers are not") {
  const Tensor x = counted({5});
  CHECK(numbers((x > 0) & (x < 3)) == std::vector<double>{0, 1, 1, 0, 0});
  CHECK(numbers((x < 1) | (x > 3)) == std::vector<double>{1, 0, 0, 0, 1});
  CHECK(numbers((x < 2) ^ (x > 0)) == std::vector<double>{1, 0, 1, 1, 1});
  CHECK(numbers(~(x < 2)) == numbers(!(x < 2)));
  CHECK(numbers((x > 0).logical_and(x < 3)) == std::vector<double>{0, 1, 1, 0, 0});
  CHECK_THROWS_WITH(arange(3) & arange(3), Catch::StartsWith("operator&: masks of bool are put together with it"));
}

TEST_CASE("an element is read as any number type that can represent it") {
  CHECK(full({}, 255.0).item<std::uint8_t>() == 255);
  CHECK(full({}, -1.5, F64).item<int>() == -1);
  CHECK(full({}, 1e300, F64).item<double>() == 1e300);
  CHECK(std::isinf(full({}, INFINITY).item<float>()));
  CHECK(full({}, 7.0).item<bool>());
  CHECK_THROWS_WITH(full({}, 300.0).item<std::uint8_t>(), Catch::Contains("300.0 cannot be converted to uint8"));
  CHECK_THROWS_WITH(full({}, 1e30, F64).item<int>(), Catch::Contains("cannot be converted to int32 without overflow"));
  CHECK_THROWS_WITH(full({}, NAN).item<std::int64_t>(), Catch::Contains("cannot be converted to int64"));
  CHECK_THROWS_WITH(full({}, std::int64_t{1} << 40, I64).item<int>(), Catch::Contains("1099511627776"));
  CHECK_THROWS_WITH(full({}, -1.0).item<std::size_t>(), Catch::Contains("cannot be converted to uint64"));
  CHECK_THROWS_WITH(full({}, 1e300, F64).item<float>(), Catch::Contains("cannot be converted to float32"));
}

TEST_CASE("an undefined tensor has no sizes, and says so") {
  const Tensor none;
  CHECK_THROWS_WITH(none.numel(), Catch::Contains("undefined"));
  CHECK_THROWS_WITH(none.dim(), Catch::Contains("undefined"));
  CHECK_THROWS_WITH(none.sizes(), Catch::Contains("undefined"));
  CHECK_THROWS_WITH(none.dtype(), Catch::Contains("undefined"));
  CHECK_THROWS_WITH(none.device(), Catch::Contains("undefined"));
  CHECK_THROWS_WITH(none.options(), Catch::Contains("undefined"));
  CHECK_THROWS_WITH(none.is_sparse(), Catch::Contains("undefined"));
  CHECK_THROWS_WITH(none.version(), Catch::Contains("undefined"));
}

TEST_CASE("pieces and shapes of others") {
  const Tensor x = set_requires_grad(counted({5, 1}));
  const TensorList parts = x.chunk(2);
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].sizes() == Dims{3, 1});
  CHECK(parts[1].sizes() == Dims{2, 1});
  CHECK(x.chunk(9).size() == 5);
  const TensorList rows = x.unbind();
  REQUIRE(rows.size() == 5);
  CHECK(rows[4].sizes() == Dims{1});
  CHECK(x.squeeze().sizes() == Dims{5});
  CHECK(ones({1, 1}).squeeze().sizes().empty());
  CHECK(x.expand_as(ones({5, 3})).sizes() == Dims{5, 3});
  CHECK(x.view_as(ones({1, 5})).sizes() == Dims{1, 5});
  backward(sum(parts[1] * 2) + rows[0][0] + sum(x.squeeze()));
  CHECK(numbers(grad(x)) == std::vector<double>{2, 1, 1, 3, 3});
  CHECK_THROWS_WITH(x.chunk(0), Catch::StartsWith("chunk: there must be 1 part or more, not 0"));
}

TEST_CASE("copies go to another dtype and device at once") {
  const Tensor x = ones({2});
  CHECK(x.to(TensorOptions{F64, device::kCpu}).dtype() == F64);
  CHECK(x.to(device::kCpu, I64).dtype() == I64);
  CHECK(x.to(x.options()).is_same(x));
  const std::vector<double> values{1, 2};
  CHECK(from_data(values.data(), {2}, F64).dtype() == F64);
}

TEST_CASE("a hook may return nothing") {
  const Tensor x = set_requires_grad(ones({2}));
  double seen = 0;
  register_hook(x, [&seen](const Tensor& gradient) { seen += gradient[1].item<double>(); });
  backward(sum(x * 3));
  CHECK(seen == 3);
  CHECK(numbers(grad(x)) == std::vector<double>{3, 3});
}

}  // namespace distrun
