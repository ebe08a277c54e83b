// Functions that use other streams than the current one, and results that are not ready when they are sent.
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

const DevicePairs kOtherDevices{{0, 1}, {1, 0}};

// Reads the result on another stream of the caller.
template <class Call>
void expect_read_elsewhere(Rank& rank, const Call& call, double expected) {
  note_scale(rank);
  start_with_map(rank, next_worker(rank), {{0, 0}});
  const Future<Tensor> future = call();
  {
    const device::StreamGuard guard(device::stream_from_pool(device::cuda(0)));
    expect_on(0, future.wait(), full({100}, expected));
  }
  rpc::shutdown();
}

}  // namespace

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, custom_stream, .devices = 2) { expect_slow_add(rank, {{"cuda:0", "cuda:1"}}); }
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, custom_stream_multi, .devices = 2) { expect_many_slow_adds(rank, {{0, 1}}); }
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, custom_stream_nested, .devices = 2) {
  expect_nested_slow_add(rank, kOtherDevices);
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, custom_stream_nested_multi, .devices = 2) {
  expect_many_nested_slow_adds(rank, kOtherDevices);
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, tensor_view_as_return_value, .devices = 1) {
  note_scale(rank);
  start_with_map(rank, next_worker(rank), {{0, 0}});
  std::vector<Future<Tensor>> views;
  for (int i = 0; i < 5; ++i) views.push_back(rpc_async(next_worker(rank), return_tensor_view, i));
  for (int i = 0; i < 5; ++i) expect_on(0, views[static_cast<std::size_t>(i)].wait(), full({100, 200}, i));
  rpc::shutdown();
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, async_execution_with_cuda_future, .devices = 1) {
  const auto call = [&] {
    return rpc_async<Tensor>(next_worker(rank), "async_cuda_sleep_and_set_to_one",
                             zeros({100}, {.device = device::cuda(0)}));
  };
  expect_read_elsewhere(rank, call, 1);
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, async_execution_nested_with_cuda_future, .devices = 1) {
  const auto call = [&] {
    const Tensor one = ones({100}, {.device = device::cuda(0)});
    return rpc_async(next_worker(rank), async_cuda_nested_add, next_worker(rank, 2), one, clone(one), clone(one));
  };
  expect_read_elsewhere(rank, call, 3);
}
