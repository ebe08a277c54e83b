#include <catch2/catch.hpp>

#include <distrun/runtime/nn/gradient_buckets.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

namespace distrun::nn {
namespace {

using Numbers = std::vector<std::size_t>;

std::vector<Numbers> numbers_of(const std::vector<GradientBucket>& buckets) {
  std::vector<Numbers> all;
  for (const GradientBucket& each : buckets) all.push_back(each.parameters);
  return all;
}

TensorList floats(const std::vector<std::int64_t>& counts) {
  TensorList all;
  for (const std::int64_t count : counts) all.push_back(tensor::zeros({count}));
  return all;
}

}  // namespace

TEST_CASE("buckets are filled from the last parameter to the first, and the first bucket is smaller") {
  const auto buckets = make_buckets(floats({10, 10, 10, 10, 10}), {.first_bytes = 40, .bytes = 80});
  CHECK(numbers_of(buckets) == std::vector<Numbers>{{4}, {3, 2}, {1, 0}});
  CHECK(buckets[0].bytes() == 40U);
  CHECK(buckets[1].bytes() == 80U);
}

TEST_CASE("a parameter that is larger than a bucket has a separate one") {
  const auto buckets = make_buckets(floats({1, 1000, 1}), {.first_bytes = 8, .bytes = 8});
  CHECK(numbers_of(buckets) == std::vector<Numbers>{{2, 1}, {0}});
}

TEST_CASE("a bucket contains gradients of one dtype") {
  const TensorList parameters{tensor::zeros({2}), tensor::zeros({2}, {tensor::DType::F64}), tensor::zeros({2})};
  CHECK(numbers_of(make_buckets(parameters, {})) == std::vector<Numbers>{{2, 0}, {1}});
}

TEST_CASE("the parts of a bucket are views of it, with the sizes of the parameters") {
  const TensorList parameters{tensor::zeros({2, 3}), tensor::zeros({0}), tensor::zeros({})};
  const auto buckets = make_buckets(parameters, {});
  REQUIRE(buckets.size() == 1U);
  const GradientBucket& bucket = buckets.front();
  CHECK(bucket.flat.numel() == 7);
  REQUIRE(bucket.places.size() == 3U);
  CHECK(bucket.places[0].sizes() == Dims{});
  CHECK(bucket.places[2].sizes() == Dims{2, 3});
  bucket.places[2].data_as<float>()[5] = 4;
  CHECK(bucket.flat.data_as<float>()[6] == 4.0F);
}

}  // namespace distrun::nn
