// Convolutions and pooling beyond the golden cases: refusals and edge cases.
#include <catch2/catch.hpp>

#include <cmath>

#include <distrun/runtime/tensor/closeness.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::tensor {

using Catch::Matchers::Contains;

TEST_CASE("a convolution is linear in both arguments, and its gradients are its adjoints") {
  Generator generator(7);
  const TensorOptions f64{DType::F64, device::kCpu};
  const Conv2dOptions options{{2, 1}, {1, 0}};
  const Tensor x = randn({2, 3, 6, 5}, f64, generator), w = randn({4, 3, 3, 2}, f64, generator);
  const Tensor y = conv2d(x, w, {}, options), g = randn(y.sizes(), f64, generator);
  const double product = sum(mul(y, g)).item_as<double>();
  CHECK(sum(mul(conv2d_input_gradient(g, w, x.sizes(), options), x)).item_as<double>() == Approx(product));
  CHECK(sum(mul(conv2d_weight_gradient(g, x, w.sizes(), options), w)).item_as<double>() == Approx(product));
}

TEST_CASE("convolutions that do not fit are refused") {
  const Tensor x = ones({1, 3, 5, 5});
  CHECK_THROWS_WITH(conv2d(x, ones({4, 2, 3, 3}), {}),
                    Contains("conv2d: input [1, 3, 5, 5] and weight [4, 2, 3, 3] do not fit: the channels differ"));
  CHECK_THROWS_WITH(conv2d(x, ones({4, 3, 6, 6}), {}), Contains("the window is larger than the image"));
  CHECK_THROWS_WITH(conv2d(x, ones({4, 3, 3}), {}), Contains("conv2d: a tensor with 4 dimensions is needed"));
  CHECK_THROWS_WITH(conv2d(x, ones({4, 3, 3, 3}), ones({3})), Contains("a bias for each channel"));
  CHECK_THROWS_WITH(conv2d(x, ones({4, 3, 3, 3}), {}, {{0, 1}, {0, 0}}), Contains("stride must be 1 or more"));
  CHECK_THROWS_WITH(conv2d(x, ones({4, 3, 3, 3}), {}, {{1, 1}, {0, -1}}), Contains("but they are 1 and -1"));
  CHECK_THROWS_WITH(conv2d(x, ones({4, 3, 3, 3}), {}, {{1, 1}, {INT64_MAX, 0}}),
                    Contains("neither above 1073741824, but they are 1 and 9223372036854775807"));
  CHECK_THROWS_WITH(conv2d(x, ones({4, 3, 0, 3}), {}), Contains("the weight has no elements"));
  CHECK_THROWS_WITH(conv2d(x, ones({0, 3, 3, 3}), {}), Contains("the weight has no elements"));
  CHECK_THROWS_WITH(conv2d(zeros({1, 3, 0, 5}), ones({4, 3, 3, 3}), {}, {{1, 1}, {2, 0}}),
                    Contains("input [1, 3, 0, 5] and weight [4, 3, 3, 3] do not fit: the image has no elements"));
  CHECK_THROWS_WITH(conv2d(x, ones({4, 3, 3, 3}), ones({4}, {DType::F64})), Contains("same dtype"));
  CHECK_THROWS_WITH(conv2d(x, ones({4, 3, 3, 3}, {DType::F64}), {}), Contains("same dtype"));
  CHECK_THROWS_WITH(conv2d_input_gradient(ones({1, 4, 2, 2}), ones({4, 3, 3, 3}), {1, 3, 5, 5}),
                    Contains("the gradient's sizes"));
  CHECK_THROWS_WITH(conv2d_weight_gradient(ones({1, 4, 3, 3}), x, {4, 3}), Contains("have not 4 dimensions"));
  CHECK_THROWS_WITH(conv2d(to(x, DType::I64), to(x, DType::I64), {}), Contains("a floating dtype is required"));
}

TEST_CASE("a convolution of no images has an empty result, and its weight gradient is zero") {
  const Tensor none = zeros({0, 3, 5, 5}), w = ones({4, 3, 3, 3});
  CHECK(conv2d(none, w, ones({4})).sizes() == Dims{0, 4, 3, 3});
  CHECK(sum(conv2d_weight_gradient(zeros({0, 4, 3, 3}), none, w.sizes())).item_as<float>() == 0);
  CHECK(conv2d_input_gradient(zeros({0, 4, 3, 3}), w, none.sizes()).numel() == 0);
}

TEST_CASE("a convolution of no channels is zero, or the bias") {
  const Tensor none = zeros({1, 0, 5, 5}), w = zeros({4, 0, 3, 3});
  CHECK(equal(conv2d(none, w, {}), zeros({1, 4, 3, 3})));
  CHECK(equal(conv2d(none, w, ones({4})), ones({1, 4, 3, 3})));
  CHECK(conv2d_weight_gradient(ones({1, 4, 3, 3}), none, w.sizes()).sizes() == w.sizes());
}

TEST_CASE("a convolution may have a stride far larger than the image") {
  constexpr std::int64_t kFar = std::int64_t{1} << 30;
  const Tensor y = conv2d(ones({1, 3, 5, 5}), ones({1, 3, 3, 3}), {}, {{kFar, kFar}, {kFar, kFar}});
  CHECK(to_vector<float>(y) == std::vector<float>{0, 0, 0, 0, 27, 0, 0, 0, 0});
}

TEST_CASE("convolutions and pooling of no images accept huge sizes") {
  const Tensor wide = zeros({0, 1, INT64_MAX, 1});
  CHECK_THROWS_WITH(conv2d(wide, ones({1, 1, 1, 1}), {}, {{1, 1}, {1, 0}}),
                    Contains("conv2d: sizes 9223372036854775807 and 2 overflow in sum"));
  CHECK(conv2d(wide, ones({1, 1, 1, 1}), {}).sizes() == wide.sizes());
  CHECK_THROWS_WITH(conv2d(wide, ones({2, 1, 1, 1}), {}), Contains("[0, 2, 9223372036854775807, 1]"));
  CHECK_THROWS_WITH(max_pool2d(wide, {{2, 1}, {1, 1}, {1, 0}}),
                    Contains("max_pool2d: sizes 9223372036854775807 and 2 overflow in sum"));
  CHECK_THROWS_WITH(conv2d_input_gradient(ones({1, 1, 1, 1}), ones({1, 1, 1, 1}), {INT64_MAX, INT64_MAX, 1, 1}),
                    Contains("[9223372036854775807, 9223372036854775807, 1, 1]"));
}

TEST_CASE("the gradient of pooling goes to the maximum") {
  const Tensor x = view(from_values<float>({1, 5, 2, 0, 3, 4, 8, 7, 6}), {1, 1, 3, 3});
  const Pooled pooled = max_pool2d(x, {{2, 2}, {1, 1}, {0, 0}});
  CHECK(to_vector<float>(pooled.values) == std::vector<float>{5, 5, 8, 7});
  CHECK(to_vector<std::int64_t>(pooled.indices) == std::vector<std::int64_t>{1, 1, 6, 7});
  const Tensor g = view(from_values<float>({1, 2, 3, 4}), {1, 1, 2, 2});
  CHECK(to_vector<float>(max_pool2d_gradient(g, pooled.indices, x.sizes())) ==
        std::vector<float>{0, 3, 0, 0, 0, 0, 3, 4, 0});
}

TEST_CASE("pooling: NaN wins, and sizes that do not fit are refused") {
  const Tensor x = view(from_values<float>({1, std::nanf(""), 3, 4}), {1, 1, 2, 2});
  CHECK(std::isnan(max_pool2d(x).values.item_as<float>()));
  CHECK(max_pool2d(ones({0, 2, 4, 4})).values.sizes() == Dims{0, 2, 2, 2});
  CHECK_THROWS_WITH(max_pool2d(x, {{3, 3}, {0, 0}, {0, 0}}),
                    Contains("window 3, stride 3 and padding 0 do not fit a size of 2"));
  CHECK_THROWS_WITH(max_pool2d(x, {{2, 2}, {0, 0}, {2, 2}}), Contains("padding 2 do not fit a size of 2: the padding"));
  CHECK_THROWS_WITH(max_pool2d(x, {{2, 0}, {0, 0}, {0, 0}}), Contains("window 0, stride 0 and padding 0"));
  CHECK_THROWS_WITH(max_pool2d(x, {{2, 2}, {1, -1}, {0, 0}}), Contains("the stride must be 1 or more"));
  CHECK_THROWS_WITH(max_pool2d(x, {{2, 2}, {1, 1}, {0, -1}}), Contains("padding -1 do not fit"));
  CHECK_THROWS_WITH(max_pool2d(x, {{5, 2}, {1, 1}, {1, 0}}), Contains("larger than the padded image"));
  CHECK_THROWS_WITH(max_pool2d(x, {{INT64_MAX, 2}, {1, 1}, {INT64_MIN, 0}}), Contains("padding -9223372036854775808"));
  CHECK_THROWS_WITH(max_pool2d(ones({4, 4})), Contains("max_pool2d: a tensor with 4 dimensions"));
}

TEST_CASE("pooling takes images with elements only, but also a batch without images") {
  CHECK_THROWS_WITH(max_pool2d(zeros({1, 1, 0, 4}), {{2, 2}, {0, 0}, {1, 1}}),
                    Contains("only the batch may be empty, and dimension 2 has a size of 0 (float32 [1, 1, 0, 4])"));
  CHECK_THROWS_WITH(max_pool2d(zeros({1, 0, 4, 4})), Contains("dimension 1 has a size of 0"));
  CHECK(max_pool2d(zeros({0, 1, 4, 4})).values.sizes() == Dims{0, 1, 2, 2});
}

TEST_CASE("a window may be far larger than the image, if the padding leaves a position for it") {
  const std::int64_t window = INT64_MAX - 4, padding = window / 2;
  const Tensor x = ones({1, 1, 1, 2});
  CHECK(equal(max_pool2d(x, {{1, window}, {1, 1}, {0, padding}}).values, x));
  CHECK_THROWS_WITH(max_pool2d(x, {{1, window}, {1, 1}, {0, padding - 1}}), Contains("larger than the padded image"));
  CHECK_THROWS_WITH(max_pool2d(x, {{1, INT64_MAX}, {1, 1}, {0, INT64_MAX / 2}}),
                    Contains("max_pool2d: sizes 2 and 9223372036854775806 overflow in sum"));
}

TEST_CASE("the gradient of pooling accepts only indices within a plane") {
  const Tensor g = ones({1, 1, 1, 1}), place = zeros({1, 1, 1, 1}, {DType::I64});
  const Dims sizes{1, 1, 2, 2};
  CHECK(sum(max_pool2d_gradient(g, add(place, 3), sizes)).item_as<float>() == 1);
  CHECK_THROWS_WITH(max_pool2d_gradient(g, add(place, 4), sizes), Contains("index 4 is out of range for planes of 4"));
  CHECK_THROWS_WITH(max_pool2d_gradient(g, sub(place, 1), sizes), Contains("index -1 is out of range"));
  CHECK_THROWS_WITH(max_pool2d_gradient(g, g, sizes), Contains("int64 indices are required"));
  CHECK_THROWS_WITH(max_pool2d_gradient(g, place, {1, 1, 0, 2}), Contains("planes of 0 elements"));
}

}  // namespace distrun::tensor
