// Ranks that see one GPU each, all as cuda:0: the GPUs are different nevertheless.
#include <memory>
#include <set>
#include <string>

#include <distrun/collectives.hpp>
#include <distrun/rpc.hpp>
#include <distrun/tensors.hpp>
#include <distrun/test.hpp>

namespace {

using namespace distrun;

const device::Device kOnly = device::cuda(0);

Tensor twice(Tensor x) {
  if (x.device() != kOnly) throw Error(ErrorKind::Failed, "it came to " + to_string(x.device()));
  return tensor::mul(x, 2);
}
DISTRUN_RPC(twice)

float first_of(const Tensor& tensor) { return *tensor::to(tensor, device::kCpu).data_as<float>(); }

}  // namespace

DISTRUN_SUITE(OwnGpu, .world_size = gpus(), .gpu_per_rank = true);

DISTRUN_TEST(OwnGpu, is_no_other_ranks) {
  DISTRUN_REQUIRE(device::gpu_count() == 1);
  rank.send(0, "uuid", device::gpu_driver().properties(0).uuid);
  if (!rank.is_master()) return;
  std::set<std::string> uuids;
  for (int from = 0; from < rank.world_size(); ++from) uuids.insert(rank.receive(from, "uuid"));
  DISTRUN_EXPECT(static_cast<int>(uuids.size()) == rank.world_size());
}

DISTRUN_TEST(OwnGpu, has_a_group_of_nccl, .backends = {"nccl"}) {
  const auto group = init_process_group(rank);
  DISTRUN_EXPECT(group->device() == kOnly);
  const Tensor sum = tensor::full({4}, rank.rank() + 1, {DType::F32, kOnly});
  group->all_reduce(sum);
  const int n = rank.world_size();
  DISTRUN_EXPECT(first_of(sum) == static_cast<float>(n * (n + 1) / 2));
}

DISTRUN_TEST(OwnGpu, calls_another_ranks_with_its_tensors) {
  const std::string next = "worker" + std::to_string((rank.rank() + 1) % rank.world_size());
  const auto options = std::make_shared<rpc::PipeOptions>();
  options->set_device_map(next, {{0, 0}});
  init_rpc(rank, options);
  const Tensor result = rpc_sync(next, twice, tensor::full({4}, rank.rank() + 1, {DType::F32, kOnly}));
  DISTRUN_EXPECT(result.device() == kOnly);
  DISTRUN_EXPECT(first_of(result) == static_cast<float>(2 * (rank.rank() + 1)));
  DISTRUN_EXPECT(rpc::debug_info().at("devices." + next + ".channel") == "staged");
  rpc::shutdown();
}
