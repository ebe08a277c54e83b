// Batch normalisation over the batches of all ranks: each rank's result equals that of one rank with all batches.
#include <distrun/runtime/nn/sync_batch_norm.hpp>

#include "values.hpp"

namespace {

using namespace distrun;
using namespace distrun::suites;

constexpr std::int64_t kChannels = 3;

// Ranks have different numbers of rows; the last of three or more has none.
std::int64_t rows_of(int rank, int ranks) { return ranks > 2 && rank == ranks - 1 ? 0 : rank + 2; }

Tensor batch_of(int rank, int ranks) {
  manual_seed(50 + static_cast<std::uint64_t>(rank));
  return here(randn({rows_of(rank, ranks), kChannels, 4})) * 3 + rank;
}
// Returns the gradient of the loss there: different for each element.
Tensor factors_of(int rank, int ranks) {
  manual_seed(150 + static_cast<std::uint64_t>(rank));
  return here(randn({rows_of(rank, ranks), kChannels, 4}));
}

Tensor of_all(int ranks, Tensor (*one)(int, int)) {
  TensorList all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(one(rank, ranks));
  return cat(all);
}

Tensor part_of(const Tensor& all, int rank, int ranks) {
  std::int64_t begin = 0;
  for (int before = 0; before < rank; ++before) begin += rows_of(before, ranks);
  return narrow(all, 0, begin, rows_of(rank, ranks));
}

void expect_close(const Tensor& actual, const Tensor& expected, base::Location where = base::Location::here()) {
  expect_same(detach(actual), detach(expected), where);
}

// Returns the sum of the ranks' shares.
Tensor total(ProcessGroup& group, const Tensor& share) {
  const Tensor all = tensor::clone(share);
  group.all_reduce(all);
  return all;
}

}  // namespace

DISTRUN_SUITE(SyncBatchNorm, .skip = {needs_gpus_for_nccl()});

DISTRUN_TEST(SyncBatchNorm, is_that_of_all_batches_as_one) {
  const auto group = init_process_group(rank);
  const int n = rank.world_size();
  for (const bool affine : {true, false}) {
    nn::BatchNorm one(kChannels, {.affine = affine});
    nn::SyncBatchNorm many(kChannels, group, {.affine = affine});
    one.to(home());
    many.to(home());
    const Tensor all = set_requires_grad(of_all(n, batch_of)), own = set_requires_grad(batch_of(rank.rank(), n));
    const Tensor wanted = one(all), got = many(own);
    expect_close(got, part_of(wanted, rank.rank(), n));
    backward(sum(wanted * of_all(n, factors_of)));
    backward(sum(got * factors_of(rank.rank(), n)));
    expect_close(grad(own), part_of(grad(all), rank.rank(), n));
    expect_close(many.running_mean(), one.running_mean());
    expect_close(many.running_var(), one.running_var());
    if (!affine) continue;
    expect_close(total(*group, grad(many.weight())), grad(one.weight()));
    expect_close(total(*group, grad(many.bias())), grad(one.bias()));
  }
}

DISTRUN_TEST(SyncBatchNorm, does_not_ask_others_when_it_is_not_training) {
  const auto group = init_process_group(rank);
  nn::SyncBatchNorm net(kChannels, group);
  net.to(home());
  net(batch_of(rank.rank(), rank.world_size()));
  net.train(false);
  const std::uint64_t calls = group->sequence_number();
  const Tensor x = batch_of(0, 1);
  const Tensor mean = reshape(net.running_mean(), {1, kChannels, 1}),
               var = reshape(net.running_var(), {1, kChannels, 1});
  const Tensor y = net(x);
  expect_close(y * y * (var + 1e-5), (x - mean) * (x - mean));
  nn::SyncBatchNorm of_batches(kChannels, group, {.track_running_stats = false});
  of_batches.to(home());
  of_batches.train(false);
  expect_close(sum(of_batches(x), {0, 2}), here(zeros({kChannels})));
  DISTRUN_EXPECT(group->sequence_number() == calls);
}

// All ranks get the error, including those without an element.
DISTRUN_TEST(SyncBatchNorm, refuses_batches_that_are_one_element_together, .skip = {require_world_size(2)}) {
  const auto group = init_process_group(rank);
  nn::SyncBatchNorm net(kChannels, group);
  net.to(home());
  DISTRUN_EXPECT_THROWS(Error, "the ranks' batches need more than one element for each channel",
                        net(here(ones({rank.rank() == 0 ? 1 : 0, kChannels}))));
  expect_close(net.running_mean(), here(zeros({kChannels})));
}

DISTRUN_TEST(SyncBatchNorm, on_gpus_follows_their_streams, .devices = 1) {
  const auto group = init_process_group(rank);
  const int n = rank.world_size();
  const Device gpu = own_gpu(rank);
  nn::BatchNorm one(kChannels);
  one.to(home());
  nn::SyncBatchNorm many(kChannels, group);
  many.to(gpu);
  const Tensor own = set_requires_grad(to(batch_of(rank.rank(), n), gpu));
  const Tensor all = set_requires_grad(of_all(n, batch_of));
  const Tensor got = many(own);
  backward(sum(one(all) * of_all(n, factors_of)));
  backward(sum(got * to(factors_of(rank.rank(), n), gpu)));
  expect_close(to(grad(own), device::kCpu), part_of(grad(all), rank.rank(), n));
}
