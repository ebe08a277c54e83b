#pragma once
// Batch normalization: each channel of a batch [N, C], [N, C, L] or [N, C, H, W] is brought to mean 0 and variance 1:
// in training with the batch's moments, otherwise with running moments. The buffers are "running_mean", initially 0,
// and "running_var", initially 1. A training call moves them by `momentum` towards the batch's moments, whose variance
// is divided by n - 1 here, and increments "num_batches_tracked". An empty batch gives an empty result and gradients of
// 0 for weight and bias, and changes no buffer.
#include <optional>

#include <distrun/runtime/nn/module.hpp>
#include <distrun/runtime/tensor/operators/normalization.hpp>

namespace distrun::nn {

// Options of BatchNorm and SyncBatchNorm.
struct BatchNormOptions {
  double epsilon = 1e-5;                 // is added to the variance; above 0
  std::optional<double> momentum = 0.1;  // none: running moments are the average over all batches so far
  bool affine = true;                    // with a weight and a bias per channel
  bool track_running_stats = true;       // otherwise the batch's moments are always used
};

// Normalizes by channels, the dimension 1; see the top of this header. As thread-safe as a Module, but training calls
// change the buffers.
class BatchNorm : public Module {
 public:
  // Throws Error{InvalidArgument, "ValueError"} for less than 1 channel, an epsilon that is not above 0, and a momentum
  // outside of [0, 1].
  explicit BatchNorm(std::int64_t channels, BatchNormOptions options = {});
  // Throws Error{InvalidArgument, "ValueError"} for other inputs, and in training for one element per channel.
  Tensor forward(const Tensor& input) override;

  const BatchNormOptions& options() const noexcept { return options_; }  // as passed to the constructor

  // These return [channels], or undefined tensors where the options leave them out.
  Tensor weight() const { return options_.affine ? parameter(0) : Tensor(); }
  Tensor bias() const { return options_.affine ? parameter(1) : Tensor(); }
  Tensor running_mean() const { return options_.track_running_stats ? buffer(0) : Tensor(); }
  Tensor running_var() const { return options_.track_running_stats ? buffer(1) : Tensor(); }
  // Returns an integer without dimensions.
  Tensor num_batches_tracked() const { return options_.track_running_stats ? buffer(2) : Tensor(); }

 protected:
  // Returns whether forward() normalizes by the batch's moments.
  bool uses_batch() const noexcept { return is_training() || !options_.track_running_stats; }
  // Returns the number of elements per channel.
  double check(const Tensor& input) const;
  // Handles an empty batch.
  Tensor normalize_nothing(const Tensor& input) const;
  // Called after the batch is normalized, so that a rejected batch changes nothing.
  void move_running(const tensor::Moments& moments, double count) const;

 private:
  const std::int64_t channels_;
  const BatchNormOptions options_;
};

}  // namespace distrun::nn
