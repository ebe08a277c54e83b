#pragma once
// Kernels of batch normalization for contiguous elements of one channel. Sums are computed in double and in the same
// order on all machines, like those of table.hpp.
#include <cstdint>

namespace distrun::tensor::kernels {

// out = (in - mean) inverse weight + bias
struct ChannelNormalization {
  const void* in = nullptr;
  void* out = nullptr;
  std::int64_t count = 0;
  double mean = 0, inverse = 0, weight = 0, bias = 0;  // exact in the elements' type
};

// out = (gradient - gradient_mean - (in - mean) inverse^2 product_mean) inverse weight
struct ChannelNormalizationGradient {
  const void *gradient = nullptr, *in = nullptr;
  void* out = nullptr;
  std::int64_t count = 0;
  double mean = 0, inverse = 0, weight = 0, gradient_mean = 0, product_mean = 0;  // exact in the elements' type
};

// Each array has one kernel for float and one for double. The first three return sums.
struct ChannelKernels {
  double (*sum[2])(const void* in, std::int64_t count);
  double (*squares[2])(const void* in, std::int64_t count, double mean);                         // (in - mean)^2
  double (*products[2])(const void* gradient, const void* in, std::int64_t count, double mean);  // gradient (in - mean)
  void (*normalize[2])(const ChannelNormalization& channel);
  void (*normalize_gradient[2])(const ChannelNormalizationGradient& channel);
};

}  // namespace distrun::tensor::kernels
