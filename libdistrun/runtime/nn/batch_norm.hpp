#pragma once
// Batch normalisation: each channel of a batch [N, C], [N, C, L] or [N, C, H, W] is brought to mean 0 and variance 1,
// in training by the batch's own moments, else by running ones. Their buffers are "running_mean", which begins as 0,
// and "running_var", as 1; a training call moves them by `momentum` towards the batch's, whose variance is divided by n
// - 1 for that, and counts itself in "num_batches_tracked". An empty batch has an empty result, gives weight and bias
// gradients of 0, and changes no buffer.
#include <optional>

#include <distrun/runtime/nn/module.hpp>
#include <distrun/runtime/tensor/operators/normalization.hpp>

namespace distrun::nn {

struct BatchNormOptions {
  double epsilon = 1e-5;
  std::optional<double> momentum = 0.1;  // none: the running moments are the average of all batches' so far
  bool affine = true;                    // has a weight and a bias for each channel
  bool track_running_stats = true;       // else the batch's moments are used always
};

class BatchNorm : public Module {
 public:
  explicit BatchNorm(std::int64_t channels, BatchNormOptions options = {});
  // Throws Error{InvalidArgument, "ValueError"} for other inputs, and in training for a channel of one element.
  Tensor forward(const Tensor& input) override;

  const BatchNormOptions& options() const noexcept { return options_; }
  Tensor weight() const { return options_.affine ? parameter(0) : Tensor(); }
  Tensor bias() const { return options_.affine ? parameter(1) : Tensor(); }
  Tensor running_mean() const { return options_.track_running_stats ? buffer(0) : Tensor(); }
  Tensor running_var() const { return options_.track_running_stats ? buffer(1) : Tensor(); }
  // An integer, of no dimensions.
  Tensor num_batches_tracked() const { return options_.track_running_stats ? buffer(2) : Tensor(); }

 protected:
  bool uses_batch() const noexcept { return is_training() || !options_.track_running_stats; }
  // Elements of each channel.
  double check(const Tensor& input) const;
  // Of a batch without an element.
  Tensor normalize_nothing(const Tensor& input) const;
  // After the batch is normalised: one that is refused moves nothing.
  void move_running(const tensor::Moments& moments, double count) const;

 private:
  const std::int64_t channels_;
  const BatchNormOptions options_;
};

}  // namespace distrun::nn
