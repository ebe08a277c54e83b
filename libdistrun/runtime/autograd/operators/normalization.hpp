#pragma once
// Operators that put elements into proportion, as users call them. What each computes say softmax.hpp,
// layer_norm.hpp and normalization.hpp of <distrun/runtime/tensor/operators/>.
#include <functional>

#include <distrun/runtime/tensor/operators/normalization.hpp>

namespace distrun {

// exp(x) over their sum along `dim`; each line sums up to 1.
Tensor softmax(const Tensor& tensor, std::int64_t dim);
Tensor log_softmax(const Tensor& tensor, std::int64_t dim);

// (x - mean) / sqrt(variance + epsilon) * weight + bias over the last dimensions, which are `sizes`. Weight and bias
// may be undefined, for 1 and 0.
Tensor layer_norm(const Tensor& input, const Dims& sizes, const Tensor& weight = {}, const Tensor& bias = {},
                  double epsilon = 1e-5);

// What the moments of a batch normalisation were made of.
struct MomentsOrigin {
  // Elements of each channel, those of other ranks among them; 0: they were given, and no gradient goes through them.
  double count = 0;
  // Adds up tensors in place over all ranks whose elements are in the moments; none: they are this rank's alone. Called
  // in backward passes, on whatever thread they run.
  std::function<void(const TensorList&)> add_up{};
};

// (x - mean) / sqrt(variance + epsilon) * weight + bias, by the channels of [batch, channels, ...]. Weight and bias may
// be undefined, for 1 and 0. The gradients of weight and bias are this rank's share.
Tensor batch_norm(const Tensor& input, const tensor::Moments& moments, const Tensor& weight, const Tensor& bias,
                  double epsilon, MomentsOrigin origin);
// Of this input's own moments.
Tensor batch_norm(const Tensor& input, const Tensor& weight = {}, const Tensor& bias = {}, double epsilon = 1e-5);

}  // namespace distrun
