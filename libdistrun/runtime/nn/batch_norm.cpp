#include <distrun/runtime/nn/batch_norm.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/grad_mode.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>

namespace distrun::nn {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorKind::InvalidArgument, "ValueError", "BatchNorm: " + text);
}

// Sets running = (1 - share) running + share value.
void move_towards(const Tensor& running, const Tensor& value, double share) {
  tensor::mul_(running, 1 - share);
  tensor::add_(running, value, share);
}

}  // namespace

BatchNorm::BatchNorm(std::int64_t channels, BatchNormOptions options) : channels_(channels), options_(options) {
  if (channels < 1) refuse("channels must be at least 1, not " + std::to_string(channels));
  if (!(options.epsilon > 0)) refuse("epsilon must be above 0, not " + std::to_string(options.epsilon));
  if (options.momentum && !(*options.momentum >= 0 && *options.momentum <= 1)) {
    refuse("momentum must be in [0, 1], not " + std::to_string(*options.momentum));
  }
  if (options.affine) {
    add_parameter("weight", ones({channels}));
    add_parameter("bias", zeros({channels}));
  }
  if (options.track_running_stats) {
    add_buffer("running_mean", zeros({channels}));
    add_buffer("running_var", ones({channels}));
    add_buffer("num_batches_tracked", zeros({}, {DType::I64}));
  }
}

double BatchNorm::check(const Tensor& input) const {
  if (!input.defined() || input.dim() < 2 || input.dim() > 4 || input.size(1) != channels_) {
    refuse("the input must be [N, " + std::to_string(channels_) +
           "], with one or two dimensions more or without, not " +
           (input.defined() ? device::to_string(input.sizes()) : "an undefined tensor"));
  }
  return static_cast<double>(input.numel()) / static_cast<double>(channels_);
}

// The moments are arbitrary, since there are no elements.
Tensor BatchNorm::normalize_nothing(const Tensor& input) const {
  const Tensor any = zeros({channels_}, input.options());
  return batch_norm(input, {any, any}, weight(), bias(), options_.epsilon, {});
}

void BatchNorm::move_running(const tensor::Moments& moments, double count) const {
  if (!options_.track_running_stats || !is_training()) return;
  const NoGradGuard not_recorded;
  tensor::add_(num_batches_tracked(), 1);
  const double share = options_.momentum ? *options_.momentum : 1 / num_batches_tracked().item<double>();
  move_towards(running_mean(), moments.mean, share);
  move_towards(running_var(), tensor::mul(moments.variance, count / (count - 1)), share);
}

Tensor BatchNorm::forward(const Tensor& input) {
  const double count = check(input);
  if (!uses_batch()) {
    return batch_norm(input, {running_mean(), running_var()}, weight(), bias(), options_.epsilon, {});
  }
  if (count == 0) return normalize_nothing(input);
  if (is_training() && count <= 1) {
    refuse("a batch needs more than one element for each channel in training, and has the sizes " +
           device::to_string(input.sizes()));
  }
  const tensor::Moments moments = tensor::plain::channel_moments(input);
  const Tensor result = batch_norm(input, moments, weight(), bias(), options_.epsilon, {.count = count});
  move_running(moments, count);
  return result;
}

}  // namespace distrun::nn
