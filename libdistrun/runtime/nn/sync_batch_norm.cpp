#include <distrun/runtime/nn/sync_batch_norm.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/normalization.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/operators/joining.hpp>
#include <distrun/runtime/tensor/operators/reduce.hpp>

namespace distrun::nn {
namespace {

struct OfAllRanks {
  tensor::Moments moments;  // undefined without elements
  double count = 0;
};

// A row of doubles: the moments of each channel, and the number of elements.
Tensor row_of(const Tensor& input, double count) {
  const Tensor last = tensor::full({1}, count, {tensor::DType::F64, input.device()});
  const std::int64_t channels = input.size(1);
  if (input.numel() == 0) return tensor::cat({tensor::zeros({2 * channels}, last.options()), last});
  const tensor::Moments own = tensor::plain::channel_moments(input);
  return tensor::cat({tensor::to(own.mean, tensor::DType::F64), tensor::to(own.variance, tensor::DType::F64), last});
}

// Each rank's variance is relative to its own mean, so the mean's squared distance from the common mean is added.
OfAllRanks moments_of_all(collectives::ProcessGroup& group, const Tensor& input, double count) {
  const std::int64_t channels = input.size(1);
  const Tensor own = row_of(input, count);
  const Tensor rows = tensor::zeros({group.size(), 2 * channels + 1}, own.options());
  group.all_gather_into(rows, own);
  const Tensor means = tensor::narrow(rows, 1, 0, channels), variances = tensor::narrow(rows, 1, channels, channels),
               counts = tensor::narrow(rows, 1, 2 * channels, 1);
  OfAllRanks all;
  all.count = tensor::sum(counts).item().to<double>();
  if (all.count == 0) return all;
  const auto average = [&](const Tensor& of) {
    return tensor::div(tensor::sum(tensor::mul(of, counts), {0}, false), all.count);
  };
  const Tensor mean = average(means);
  const Tensor off = tensor::sub(means, mean);
  const Tensor variance = average(tensor::add(variances, tensor::mul(off, off)));
  all.moments = {tensor::to(mean, input.dtype()), tensor::to(variance, input.dtype())};
  return all;
}

}  // namespace

SyncBatchNorm::SyncBatchNorm(std::int64_t channels, std::shared_ptr<collectives::ProcessGroup> group,
                             BatchNormOptions options)
    : BatchNorm(channels, options), group_(std::move(group)) {}

Tensor SyncBatchNorm::forward(const Tensor& input) {
  if (!is_training() || group_->size() == 1) return BatchNorm::forward(input);
  const double count = check(input);
  const OfAllRanks all = moments_of_all(*group_, autograd::detach(input), count);
  if (all.count == 0) return normalize_nothing(input);
  if (all.count <= 1) {
    throw Error(ErrorKind::InvalidArgument, "ValueError",
                "SyncBatchNorm: the ranks' batches need more than one element for each channel in training");
  }
  const auto add_up = [group = group_](const TensorList& sums) { group->all_reduce_coalesced(sums); };
  const Tensor result =
      batch_norm(input, all.moments, weight(), bias(), options().epsilon, {.count = all.count, .add_up = add_up});
  move_running(all.moments, all.count);
  return result;
}

}  // namespace distrun::nn
