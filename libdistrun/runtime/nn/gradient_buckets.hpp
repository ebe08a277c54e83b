#pragma once
// Which gradients travel together. A backward pass comes to the parameters of the last layers first, so buckets are
// filled from the last parameter to the first: while the pass goes on, the first buckets are already under way.
#include <cstddef>
#include <string>
#include <vector>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::nn {

// Gradients of one dtype on one device, one after the other in one tensor.
struct GradientBucket {
  std::vector<std::size_t> parameters;  // their numbers, in the order in which they stand in `flat`
  std::vector<Tensor> places;           // views of `flat`, with the sizes of the parameters
  Tensor flat;

  std::size_t bytes() const { return static_cast<std::size_t>(flat.numel()) * tensor::size_of(flat.dtype()); }
};

struct BucketSizes {
  std::size_t first_bytes = 1 << 20;  // small, so that something is under way early
  std::size_t bytes = 25 << 20;
};

// A bucket is full once it has that many bytes or more. Every parameter is in one; their order is the same on all ranks
// whose parameters are alike.
std::vector<GradientBucket> make_buckets(const TensorList& parameters, const BucketSizes& sizes);

}  // namespace distrun::nn
