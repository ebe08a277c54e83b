#pragma once
// Softmax and normalisations for users. See softmax.hpp, layer_norm.hpp and normalization.hpp in
// <distrun/runtime/tensor/operators/>.
#include <functional>

#include <distrun/runtime/tensor/operators/normalization.hpp>

namespace distrun {

// Returns exp(x) divided by its sum along `dim`; each line sums to 1.
Tensor softmax(const Tensor& tensor, std::int64_t dim);
// Returns the logarithm of softmax(), which stays exact where the softmax is nearly 0.
Tensor log_softmax(const Tensor& tensor, std::int64_t dim);

// Returns (x - mean) / sqrt(variance + epsilon) * weight + bias over the last dimensions, which are `sizes`. Undefined
// weight and bias stand for 1 and 0.
Tensor layer_norm(const Tensor& input, const Dims& sizes, const Tensor& weight = {}, const Tensor& bias = {},
                  double epsilon = 1e-5);

// How the moments of a batch normalisation were computed.
struct MomentsOrigin {
  // Elements of each channel on all ranks; 0: the moments were given, and no gradient passes through them.
  double count = 0;
  // Adds up tensors in place over all ranks that contribute to the moments; empty if only this rank does. Called in
  // backward passes, on the thread that runs the node.
  std::function<void(const TensorList&)> add_up{};
};

// Returns (x - mean) / sqrt(variance + epsilon) * weight + bias, by the channels of [batch, channels, ...]. Undefined
// weight and bias stand for 1 and 0. The gradients of weight and bias are this rank's share.
Tensor batch_norm(const Tensor& input, const tensor::Moments& moments, const Tensor& weight, const Tensor& bias,
                  double epsilon, MomentsOrigin origin);
// Uses the moments of this input.
Tensor batch_norm(const Tensor& input, const Tensor& weight = {}, const Tensor& bias = {}, double epsilon = 1e-5);

}  // namespace distrun
