// Tensors on GPUs: ordered by their streams, without a host that waits for results.
#include "values.hpp"

namespace {

using namespace distrun;
using namespace distrun::suites;

}  // namespace

DISTRUN_SUITE(DeviceCollectives, .devices = 1, .skip = {needs_gpus_for_nccl()});

DISTRUN_TEST(DeviceCollectives, come_after_what_makes_their_tensors) {
  const auto group = init_process_group(rank);
  const device::Device gpu = own_gpu(rank);
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
  const device::Device gpu = own_gpu(rank);
  const Tensor tensor = tensor::full({50'000}, rank.rank(), {DType::F32, gpu});
  const Work work = group->all_reduce(tensor, ReduceOp::Max, {.async = true});
  const device::StreamGuard other(device::stream_from_pool(gpu));
  work.wait();
  const Tensor next = tensor::add(tensor, 1);
  expect_same(tensor::to(next, device::kCpu), tensor::full({50'000}, group->size()));
}

DISTRUN_TEST(DeviceCollectives, gather_and_letters, .skip = {not_alone_with_nccl()}) {
  const auto group = init_process_group(rank);
  const device::Device gpu = own_gpu(rank);
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

DISTRUN_TEST(DeviceCollectives, of_a_root_may_be_waited_for_later) {
  const auto group = init_process_group(rank);
  const device::Device gpu = own_gpu(rank);
  for (int root = 0; root < group->size(); ++root) {
    const Tensor given = tensor::full({300}, rank.rank(), {DType::F32, gpu});
    const Tensor added = tensor::full({300}, rank.rank() + 1, {DType::F32, gpu});
    const Work giving = group->broadcast(given, root, {.async = true});
    const Work adding = group->reduce(added, root, ReduceOp::Sum, {.async = true});
    // A call that blocks is ordered after them.
    const Tensor all = tensor::full({2}, 1, {DType::F32, gpu});
    group->broadcast(all, root);
    giving.wait();
    adding.wait();
    expect_same(tensor::to(given, device::kCpu), tensor::full({300}, root));
    const int n = group->size(), sum = n * (n + 1) / 2;
    expect_same(tensor::to(added, device::kCpu), tensor::full({300}, rank.rank() == root ? sum : rank.rank() + 1));
  }
}

// ---- nccl only

DISTRUN_SUITE(NcclCollectives, .backends = {"nccl"}, .skip = {needs_gpus_for_nccl()});

DISTRUN_TEST(NcclCollectives, let_hosts_go_on, .skip = {require_world_size(2)}) {
  const auto group = init_process_group(rank);
  const Tensor tensor = here(tensor::full({1000}, rank.rank()));
  if (rank.rank() != 0) rank.barrier("rank 0 has called it");
  const Work work = group->all_reduce(tensor, ReduceOp::Max, {.timeout = std::chrono::seconds(10)});
  if (rank.rank() == 0) {
    DISTRUN_EXPECT(!work.done());  // no other rank has called it yet
    rank.barrier("rank 0 has called it");
  }
  expect_same(tensor, tensor::full({1000}, group->size() - 1));
  settle(work);
  DISTRUN_EXPECT(work.succeeded());
}

DISTRUN_TEST(NcclCollectives, need_a_gpu_for_each_rank, .skip = {require_world_size(2)}) {
  const auto init = [&] { init_process_group(rank, {.backend = "nccl", .gpu = device::cuda(0)}); };
  DISTRUN_EXPECT_THROWS(Error, "Duplicate GPU detected: ranks ", init());
}

DISTRUN_TEST(NcclCollectives, refuse_tensors_that_are_elsewhere) {
  const auto group = init_process_group(rank);
  const Tensor on_cpu = tensor::ones({4}), on_gpu = here(on_cpu);
  DISTRUN_EXPECT_THROWS(Error, "a tensor is on the cpu; move it to " + to_string(home()), group->all_reduce(on_cpu));
  DISTRUN_EXPECT_THROWS(Error, "a tensor is on the cpu", group->all_gather(room_for(group->size(), 4), on_cpu));
  settle(group->all_reduce(on_gpu));  // the other ranks do not know of the failed calls
  expect_same(on_gpu, tensor::full({4}, group->size()));
}

DISTRUN_TEST(NcclCollectives, are_on_the_gpu_that_a_group_is_given) {
  const int gpu = rank.rank() == 0 ? rank.world_size() - 1 : rank.rank() - 1;
  const auto group = init_process_group(rank, {.backend = "nccl", .gpu = device::cuda(gpu)});
  DISTRUN_EXPECT(group->device() == device::cuda(gpu));
  const Tensor tensor = here(tensor::ones({4}));
  DISTRUN_EXPECT(tensor.device() == device::cuda(gpu));
  group->all_reduce(tensor);
  expect_same(tensor, tensor::full({4}, group->size()));
}
