// Devices of arguments and results: by the caller's device map, and back by it.
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

// Maps of both devices: to the same ones, and exchanged.
const DevicePairs kStraight{{0, 0}, {1, 1}}, kCrossed{{0, 1}, {1, 0}};

void expect_sum(Rank& rank, const DevicePairs& map, rpc::MapDevice x_from, rpc::MapDevice y_from, rpc::MapDevice z_to) {
  expect_sum_by_map(rank, next_worker(rank), map, x_from, y_from, z_to);
}
void expect_sum_of_self(Rank& rank, const DevicePairs& map, rpc::MapDevice x_from, rpc::MapDevice y_from,
                        rpc::MapDevice z_to) {
  expect_sum_by_map(rank, std::string(rank.worker_name()), map, x_from, y_from, z_to);
}

// Runs a session with options that exchange the devices.
void expect_sum_and_difference(Rank& rank, const std::string& worker,
                               const std::shared_ptr<const rpc::PipeOptions>& options) {
  rank.barrier("all have begun");
  start_rpc(rank, options);
  const auto [sum, difference] = rpc_sync(worker, gpu_add_multi_gpu, zeros_on(0), ones_on(1));
  expect_on(1, sum, ones({2}));
  expect_on(0, difference, full({2}, -1));
  rpc::shutdown();
}
void expect_both_maps_used(Rank& rank, const std::string& worker) {
  const auto options = rpc_options(rank);
  options->set_device_map(worker, {{0, 1}});
  options->set_device_map(worker, {{1, 0}});
  expect_sum_and_difference(rank, worker, options);
}

void expect_four_devices(Rank& rank, const std::string& worker) {
  const auto options = rpc_options(rank);
  for (const DevicePairs& map : {DevicePairs{{0, 1}}, {{1, 2}}, {{2, 3}}, {{3, 0}}}) {
    options->set_device_map(worker, map);
  }
  rank.barrier("all have begun");
  start_rpc(rank, options);
  const auto [sum, difference, product, quotient] = rpc_sync(worker, gpu_add_return_to_gpu, zeros({2}), ones({2}));
  expect_on(3, sum, ones({2}));
  expect_on(0, difference, full({2}, -1));
  expect_on(1, product, zeros({2}));
  expect_on(2, quotient, zeros({2}));
  rpc::shutdown();
}

}  // namespace

DISTRUN_SUITE(TensorPipeAgentCudaRpcTest, .world_size = fixed(4));
DISTRUN_SUITE(TensorPipeAgentRpcTest, .world_size = fixed(4));

DISTRUN_TEST(TensorPipeAgentRpcTest, dynamic_rpc_existing_rank_can_communicate_with_new_rank_cuda, .devices = 2) {
  expect_calls_of_newcomers(rank, {{{1, 0}}, {{0, 1}}});
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_maps_gpu, .devices = 2) {
  start_with_map(rank, next_worker(rank), kCrossed);
  expect_on(1, rpc_sync(next_worker(rank), gpu_add, zeros_on(0), ones_on(0)), ones({2}));
  rpc::shutdown();
}

// Each: the map, the devices of the arguments, and the device of the callee's sum.
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_cpu) { expect_sum(rank, {{"cpu", "cpu"}}, "cpu", "cpu", "cpu"); }
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_cpu_to_gpu_default, .devices = 1) {
  expect_sum(rank, {{"cpu", 0}}, "cpu", "cpu", 0);
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_cpu_to_gpu_non_default, .devices = 2) {
  expect_sum(rank, {{"cpu", 1}}, "cpu", "cpu", 1);
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_gpu_to_cpu_default, .devices = 1) {
  expect_sum(rank, {{0, "cpu"}}, 0, 0, "cpu");
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_gpu_to_cpu_non_default, .devices = 2) {
  expect_sum(rank, {{1, "cpu"}}, 1, 1, "cpu");
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_gpu_default, .devices = 2) { expect_sum(rank, {{0, 0}}, 0, 0, 0); }
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_gpu_non_default, .devices = 2) {
  expect_sum(rank, {{1, 1}}, 1, 1, 1);
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_gpu_default_to_non_default, .devices = 2) {
  expect_sum(rank, {{0, 1}}, 0, 0, 1);
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_gpu_non_default_to_default, .devices = 2) {
  expect_sum(rank, {{1, 0}}, 1, 1, 0);
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_gpu_mixed_1, .devices = 2) { expect_sum(rank, kStraight, 0, 1, 0); }
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_gpu_mixed_2, .devices = 2) { expect_sum(rank, kStraight, 0, 1, 1); }
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_gpu_mixed_3, .devices = 2) { expect_sum(rank, kStraight, 1, 0, 0); }
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_gpu_mixed_4, .devices = 2) { expect_sum(rank, kStraight, 1, 0, 1); }
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_gpu_mixed_5, .devices = 2) { expect_sum(rank, kCrossed, 0, 1, 0); }
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_gpu_mixed_6, .devices = 2) { expect_sum(rank, kCrossed, 0, 1, 1); }
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_gpu_mixed_7, .devices = 2) { expect_sum(rank, kCrossed, 1, 0, 0); }
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_gpu_mixed_8, .devices = 2) { expect_sum(rank, kCrossed, 1, 0, 1); }

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_gpu_mixed_self_1, .devices = 2) {
  expect_sum_of_self(rank, kStraight, 0, 1, 0);
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_gpu_mixed_self_2, .devices = 2) {
  expect_sum_of_self(rank, kStraight, 0, 1, 1);
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_gpu_mixed_self_3, .devices = 2) {
  expect_sum_of_self(rank, kStraight, 1, 0, 0);
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_gpu_mixed_self_4, .devices = 2) {
  expect_sum_of_self(rank, kStraight, 1, 0, 1);
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_gpu_mixed_self_5, .devices = 2) {
  expect_sum_of_self(rank, kCrossed, 0, 1, 0);
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_gpu_mixed_self_6, .devices = 2) {
  expect_sum_of_self(rank, kCrossed, 0, 1, 1);
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_gpu_mixed_self_7, .devices = 2) {
  expect_sum_of_self(rank, kCrossed, 1, 0, 0);
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_map_gpu_mixed_self_8, .devices = 2) {
  expect_sum_of_self(rank, kCrossed, 1, 0, 1);
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_maps_multi_gpu, .devices = 2) {
  expect_both_maps_used(rank, next_worker(rank));
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_maps_multi_gpu_self, .devices = 2) {
  expect_both_maps_used(rank, std::string(rank.worker_name()));
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_maps_in_options, .devices = 2) {
  const auto usual = rpc_options(rank);
  const rpc::DeviceMap map{{device::cuda(0), device::cuda(1)}, {device::cuda(1), device::cuda(0)}};
  const auto options = std::make_shared<rpc::PipeOptions>(
      usual->num_worker_threads, usual->rpc_timeout, usual->init_method, std::map{std::pair{next_worker(rank), map}});
  expect_sum_and_difference(rank, next_worker(rank), options);
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_maps_return_to_gpu, .devices = 4) {
  expect_four_devices(rank, next_worker(rank));
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_maps_return_to_gpu_self, .devices = 4) {
  expect_four_devices(rank, std::string(rank.worker_name()));
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_maps_remote, .devices = 2) { expect_fetched_by_map(rank, {{1, 0}}, 1); }
