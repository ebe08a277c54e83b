#pragma once
// Groups gradients into buckets. A backward pass reaches the parameters of the last layers first, so buckets are filled
// from the last parameter to the first: the first buckets are in flight while the pass continues.
#include <cstddef>
#include <string>
#include <vector>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::nn {

// Gradients of one dtype on one device, one after the other in one tensor.
struct GradientBucket {
  std::vector<std::size_t> parameters;  // indices, in the order within `flat`
  std::vector<Tensor> places;           // views of `flat` with the parameters' sizes
  Tensor flat;

  std::size_t bytes() const { return static_cast<std::size_t>(flat.numel()) * tensor::size_of(flat.dtype()); }
};

struct BucketSizes {
  std::size_t first_bytes = 1 << 20;  // small, so that the first transfer starts early
  std::size_t bytes = 25 << 20;
};

// Fills each bucket until it has at least that many bytes. Every parameter is in one bucket; ranks with equal
// parameters get the same buckets in the same order.
std::vector<GradientBucket> make_buckets(const TensorList& parameters, const BucketSizes& sizes);

}  // namespace distrun::nn
