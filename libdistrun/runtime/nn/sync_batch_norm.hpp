#pragma once
// Batch normalisation over the batches of all ranks of a group, as if they were one: whose sizes may differ, and may be
// 0. In training each call, and each backward pass over it, is a collective of the group, but for the backward pass
// where the batches of all ranks are empty. Otherwise, and in a group of one rank, it is a BatchNorm.
//
// The gradients of weight and bias are each rank's share; DataParallel averages them with the others.
#include <memory>

#include <distrun/runtime/collectives/process_group.hpp>
#include <distrun/runtime/nn/batch_norm.hpp>

namespace distrun::nn {

class SyncBatchNorm final : public BatchNorm {
 public:
  SyncBatchNorm(std::int64_t channels, std::shared_ptr<collectives::ProcessGroup> group, BatchNormOptions options = {});
  // Throws what BatchNorm does, and what collectives throw.
  Tensor forward(const Tensor& input) override;

 private:
  const std::shared_ptr<collectives::ProcessGroup> group_;
};

}  // namespace distrun::nn
