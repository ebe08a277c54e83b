#pragma once
// The separate steps of batch normalization, so that ranks can combine their moments of a channel before using them.
//
// Channels are dimension 1 of [batch, channels, ...]. Moments and sums are computed in double and returned as
// [channels] in the input's dtype.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// Mean and variance of each channel.
struct Moments {
  Tensor mean;      // [channels]
  Tensor variance;  // divided by the number of elements
};

// Per-channel sums of a gradient.
struct ChannelSums {
  Tensor gradient;           // sum of g
  Tensor gradient_by_value;  // sum of g (x - mean)
};

namespace plain {

// Returns the moments of each channel. Throws Error{InvalidArgument} if a channel has no element.
Moments channel_moments(const Tensor& input);
// 1 / sqrt(variance + epsilon)
Tensor inverse_deviation(const Tensor& variance, double epsilon);
// Computes (x - mean) inverse weight + bias; weight and bias may be undefined, for 1 and 0.
Tensor normalize_channels(const Tensor& input, const Tensor& mean, const Tensor& inverse, const Tensor& weight,
                          const Tensor& bias);
// Returns the sums over batch and positions.
ChannelSums channel_sums(const Tensor& gradient, const Tensor& input, const Tensor& mean);
// Computes (g - mean_gradient - (x - mean) inverse^2 mean_gradient_by_value) inverse weight. The means are sums over
// all elements that the moments include, divided by their number. Undefined means are 0: the moments were given.
Tensor normalize_channels_gradient(const Tensor& gradient, const Tensor& input, const Moments& moments,
                                   const Tensor& inverse, const Tensor& weight, const ChannelSums& means);

}  // namespace plain
}  // namespace distrun::tensor
