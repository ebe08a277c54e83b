#pragma once
// Layer normalization: rows, which span the last dimensions, are normalized to mean 0 and variance 1. Floating dtypes;
// moments are computed in double.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// The result of layer_norm(), with what its gradient needs.
struct LayerNormalized {
  Tensor result;  // of the input's sizes
  // [rows], for the gradient.
  Tensor mean;
  Tensor inverse;  // 1 / sqrt(variance + epsilon)
};

// The result of layer_norm_gradients().
struct LayerNormGradients {
  // Of the sizes of input, weight and bias; undefined: not requested.
  Tensor input, weight, bias;
};

// Which gradients layer_norm_gradients() computes.
struct WantedGradients {
  // Of input, weight and bias.
  bool input = true, weight = true, bias = true;
};

namespace plain {

// Computes (x - mean) / sqrt(variance + epsilon) weight + bias over the last dimensions, which are `sizes` and also the
// sizes of weight and bias; these may be undefined, for 1 and 0. The variance is divided by the number of elements.
LayerNormalized layer_norm(const Tensor& input, const Dims& sizes, const Tensor& weight = {}, const Tensor& bias = {},
                           double epsilon = 1e-5);
// Returns the gradients; mean and inverse are those of the result, `gradient` has its sizes.
LayerNormGradients layer_norm_gradients(const Tensor& gradient, const Tensor& input, const Tensor& mean,
                                        const Tensor& inverse, const Dims& sizes, const Tensor& weight,
                                        WantedGradients wanted);

}  // namespace plain
}  // namespace distrun::tensor
