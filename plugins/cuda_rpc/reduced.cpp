// The part of the multi-device tests that one device can show: the same maps, streams and hops, all on cuda:0.
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

const DevicePairs kOneDevice{{0, 0}};

}  // namespace

DISTRUN_SUITE(CudaRpcReduced, .world_size = fixed(4), .devices = 1);

DISTRUN_TEST(CudaRpcReduced, device_map_of_one_device) {
  expect_sum_by_map(rank, next_worker(rank), kOneDevice, 0, 0, 0);
}
DISTRUN_TEST(CudaRpcReduced, device_map_of_one_device_self) {
  expect_sum_by_map(rank, std::string(rank.worker_name()), kOneDevice, 0, 0, 0);
}
DISTRUN_TEST(CudaRpcReduced, device_maps_remote_on_one_device) { expect_fetched_by_map(rank, kOneDevice, 0); }
DISTRUN_TEST(CudaRpcReduced, dynamic_rpc_with_new_rank_on_one_device) { expect_calls_of_newcomers(rank, {kOneDevice}); }

DISTRUN_TEST(CudaRpcReduced, device_maps_return_to_one_device) {
  start_with_map(rank, next_worker(rank), kOneDevice);
  const auto [sum, difference, product, quotient] =
      rpc_sync(next_worker(rank), gpu_four_operations, zeros_on(0), ones_on(0));
  expect_on(0, sum, ones({2}));
  expect_on(0, difference, full({2}, -1));
  expect_on(0, product, zeros({2}));
  expect_on(0, quotient, zeros({2}));
  rpc::shutdown();
}

DISTRUN_TEST(CudaRpcReduced, custom_stream_on_one_device) { expect_slow_add(rank, kOneDevice); }
DISTRUN_TEST(CudaRpcReduced, custom_stream_multi_on_one_device) { expect_many_slow_adds(rank, kOneDevice); }
DISTRUN_TEST(CudaRpcReduced, custom_stream_nested_on_one_device) { expect_nested_slow_add(rank, kOneDevice); }
DISTRUN_TEST(CudaRpcReduced, custom_stream_nested_multi_on_one_device) {
  expect_many_nested_slow_adds(rank, kOneDevice);
}
DISTRUN_TEST(CudaRpcReduced, cuda_future_callback_on_one_device) { expect_callback_copies(rank, 0, 0); }

// The argument is still being computed on one stream of the caller when it is sent; the result is read on another.
DISTRUN_TEST(CudaRpcReduced, rref_sync_on_one_device) {
  note_scale(rank);
  start_with_map(rank, next_worker(rank), kOneDevice);
  {
    RRef<Tensor> made;
    {
      const Stream stream = device::stream_from_pool(device::cuda(0));
      const device::StreamGuard guard(stream);
      const Tensor x = zeros({100}, {.device = device::cuda(0)});
      keep_busy(stream);
      fill_(x, 1);
      made = remote(next_worker(rank), slow_add_on_user_stream, x, x);
    }
    const device::StreamGuard guard(device::stream_from_pool(device::cuda(0)));
    expect_on(0, made.to_here(), full({100}, 2));
  }
  rpc::shutdown();
}
