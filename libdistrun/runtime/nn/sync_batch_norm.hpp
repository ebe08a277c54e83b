#pragma once
// Batch normalization over the batches of all ranks of a group, as if they were one batch; their sizes may differ, or
// be 0. In training each call and its backward pass are collectives of the group, except for the backward pass if all
// batches are empty. Otherwise, and in a group of one rank, it is a BatchNorm.
//
// Gradients of weight and bias are each rank's share; DataParallel averages them with the others.
#include <memory>

#include <distrun/runtime/collectives/process_group.hpp>
#include <distrun/runtime/nn/batch_norm.hpp>

namespace distrun::nn {

// BatchNorm with the moments of all ranks of a group.
class SyncBatchNorm final : public BatchNorm {
 public:
  // Throws as BatchNorm. Keeps the group.
  SyncBatchNorm(std::int64_t channels, std::shared_ptr<collectives::ProcessGroup> group, BatchNormOptions options = {});
  // Throws what BatchNorm does, and what collectives throw.
  Tensor forward(const Tensor& input) override;

 private:
  const std::shared_ptr<collectives::ProcessGroup> group_;
};

}  // namespace distrun::nn
