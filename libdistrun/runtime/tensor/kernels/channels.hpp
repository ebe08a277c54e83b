#pragma once
// Kernels of batch normalisation: over elements of one channel that lie one after the other. Sums are made in double
// and in one order on all machines, as those of table.hpp.
#include <cstdint>

namespace distrun::tensor::kernels {

// out = (in - mean) inverse weight + bias
struct ChannelNormalization {
  const void* in = nullptr;
  void* out = nullptr;
  std::int64_t count = 0;
  double mean = 0, inverse = 0, weight = 0, bias = 0;  // numbers of the elements' type
};

// out = (gradient - gradient_mean - (in - mean) inverse^2 product_mean) inverse weight
struct ChannelNormalizationGradient {
  const void *gradient = nullptr, *in = nullptr;
  void* out = nullptr;
  std::int64_t count = 0;
  double mean = 0, inverse = 0, weight = 0, gradient_mean = 0, product_mean = 0;  // of the elements' type
};

// One for float and one for double.
struct ChannelKernels {
  double (*sum[2])(const void* in, std::int64_t count);
  double (*squares[2])(const void* in, std::int64_t count, double mean);                         // of in - mean
  double (*products[2])(const void* gradient, const void* in, std::int64_t count, double mean);  // gradient (in - mean)
  void (*normalize[2])(const ChannelNormalization& channel);
  void (*normalize_gradient[2])(const ChannelNormalizationGradient& channel);
};

}  // namespace distrun::tensor::kernels
