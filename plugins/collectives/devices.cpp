// Tensors of GPUs: in the order of their streams, without a host that waits for results.
#include "values.hpp"

namespace {

using namespace distrun;
using namespace distrun::suites;

device::Device own_device(const Rank& rank) {
  return device::cuda(static_cast<std::int16_t>(rank.rank() % rank.gpus()));
}

}  // namespace

DISTRUN_SUITE(DeviceCollectives, .devices = 1);

DISTRUN_TEST(DeviceCollectives, come_after_what_makes_their_tensors) {
  const auto group = init_process_group(rank);
  const device::Device gpu = own_device(rank);
  const device::StreamGuard own(device::stream_from_pool(gpu));
  for (int round = 0; round < 5; ++round) {
    const Tensor tensor = tensor::mul(tensor::full({1000}, 1, {DType::F32, gpu}), rank.rank() + 1);
    group->all_reduce(tensor);
    const Tensor twice = tensor::mul(tensor, 2);
    const int n = group->size();
    expect_same(tensor::to(twice, device::kCpu), tensor::full({1000}, n * (n + 1)));
  }
}

DISTRUN_TEST(DeviceCollectives, are_waited_for_by_streams) {
  const auto group = init_process_group(rank);
  const device::Device gpu = own_device(rank);
  const Tensor tensor = tensor::full({50'000}, rank.rank(), {DType::F32, gpu});
  const Work work = group->all_reduce(tensor, ReduceOp::Max, {.async = true});
  const device::StreamGuard other(device::stream_from_pool(gpu));
  work.wait();
  const Tensor next = tensor::add(tensor, 1);
  expect_same(tensor::to(next, device::kCpu), tensor::full({50'000}, group->size()));
}

DISTRUN_TEST(DeviceCollectives, gather_and_letters) {
  const auto group = init_process_group(rank);
  const device::Device gpu = own_device(rank);
  const TensorList all = room_for(group->size(), 30, {DType::F32, gpu});
  group->all_gather(all, tensor::to(numbers_of(rank.rank(), 30), gpu));
  for (int each = 0; each < group->size(); ++each) {
    expect_same(tensor::to(all[static_cast<std::size_t>(each)], device::kCpu), numbers_of(each, 30));
  }
  const Tensor got = tensor::zeros({30}, {DType::F32, gpu});
  const Work sending = group->send(all.front(), (rank.rank() + 1) % group->size(), 0, {.async = true});
  group->receive(got, (rank.rank() + group->size() - 1) % group->size());
  sending.wait();
  expect_same(tensor::to(got, device::kCpu), numbers_of(0, 30));
}
