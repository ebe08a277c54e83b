#pragma once
// Layer normalization: each sample is brought to mean 0 and variance 1 over its last dimensions, both in training and
// afterwards.
#include <distrun/runtime/nn/module.hpp>

namespace distrun::nn {

// Options of LayerNorm.
struct LayerNormOptions {
  double epsilon = 1e-5;  // is added to the variance; above 0
  bool affine = true;     // with a weight and a bias per element of a sample
};

// Normalizes over the last dimensions: (x - mean) / sqrt(variance + epsilon) * weight + bias.
class LayerNorm final : public Module {
 public:
  // `sizes` are those of the last dimensions. Throws Error{InvalidArgument, "ValueError"} if empty, for sizes below 1,
  // and unless epsilon is positive.
  explicit LayerNorm(const Dims& sizes, LayerNormOptions options = {});
  Tensor forward(const Tensor& input) override;

  // These return tensors of the constructor's sizes, or undefined ones without `affine`.
  Tensor weight() const { return options_.affine ? parameter(0) : Tensor(); }
  Tensor bias() const { return options_.affine ? parameter(1) : Tensor(); }

 private:
  const Dims sizes_;
  const LayerNormOptions options_;
};

}  // namespace distrun::nn
