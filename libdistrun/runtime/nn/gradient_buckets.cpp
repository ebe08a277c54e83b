#include <distrun/runtime/nn/gradient_buckets.hpp>

#include <algorithm>

#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/views.hpp>

namespace distrun::nn {
namespace {

bool is_alike(const Tensor& a, const Tensor& b) { return a.dtype() == b.dtype() && a.device() == b.device(); }

std::size_t bytes_of(const Tensor& tensor) {
  return static_cast<std::size_t>(tensor.numel()) * tensor::size_of(tensor.dtype());
}

using Numbers = std::vector<std::size_t>;

// Returns groups in the order of their first parameters.
std::vector<Numbers> distribute(const TensorList& parameters, const BucketSizes& sizes) {
  struct Open {
    Numbers numbers;
    std::size_t bytes = 0;
    bool is_full = false;
  };
  std::vector<Open> all;
  for (std::size_t number = parameters.size(); number-- > 0;) {
    const Tensor& parameter = parameters[number];
    const auto open = std::find_if(all.begin(), all.end(), [&](const Open& each) {
      return !each.is_full && is_alike(parameters[each.numbers.front()], parameter);
    });
    Open& bucket = open != all.end() ? *open : all.emplace_back();
    bucket.numbers.push_back(number);
    bucket.bytes += bytes_of(parameter);
    bucket.is_full = bucket.bytes >= (&bucket == &all.front() ? sizes.first_bytes : sizes.bytes);
  }
  std::vector<Numbers> buckets;
  for (Open& each : all) buckets.push_back(std::move(each.numbers));
  return buckets;
}

GradientBucket bucket_of(const TensorList& parameters, Numbers numbers) {
  std::int64_t elements = 0;
  for (const std::size_t number : numbers) elements += parameters[number].numel();
  const Tensor& like = parameters[numbers.front()];
  GradientBucket bucket;
  bucket.flat = tensor::zeros({elements}, like.options());
  std::int64_t begin = 0;
  for (const std::size_t number : numbers) {
    const Tensor& parameter = parameters[number];
    bucket.places.push_back(tensor::view(tensor::narrow(bucket.flat, 0, begin, parameter.numel()), parameter.sizes()));
    begin += parameter.numel();
  }
  bucket.parameters = std::move(numbers);
  return bucket;
}

}  // namespace

std::vector<GradientBucket> make_buckets(const TensorList& parameters, const BucketSizes& sizes) {
  std::vector<GradientBucket> buckets;
  for (Numbers& numbers : distribute(parameters, sizes)) buckets.push_back(bucket_of(parameters, std::move(numbers)));
  return buckets;
}

}  // namespace distrun::nn
