// Guarantees on streams and memory that no ported test shows alone: one device is enough.
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

const DevicePairs kToItself{{0, 0}};

Tensor hundred(double value) { return full({100}, value, {.device = device::cuda(0)}); }

// Releases a call's arguments right after the call, and allocates others in their place. An object of the worker adds
// up the values that the calls saw.
void expect_arguments_kept(Rank& rank, const std::string& worker) {
  const auto sums = remote<TensorWrapper>(worker, "TensorWrapper", hundred(0));
  const int count = 20;
  for (int i = 0; i < count; ++i) sums.rpc_sync().call("add", hundred(i));
  DISTRUN_EXPECT(sums.rpc_sync().call<Tensor>("sum").item_as<double>() == 100.0 * count * (count - 1) / 2);
  rank.barrier("all have called");
}

}  // namespace

DISTRUN_SUITE(CudaRpcOrder, .world_size = fixed(4), .devices = 1);

// A waiter reads a value on another stream after its memory was freed: later work there waits for the read.
DISTRUN_TEST(CudaRpcOrder, values_keep_their_memory_for_those_who_read_them) {
  note_scale(rank);
  const Stream maker = device::stream_from_pool(device::cuda(0)), reader = device::stream_from_pool(device::cuda(0));
  Tensor read, next;
  {
    const Future<Tensor> future({0});
    {
      const device::StreamGuard guard(maker);
      future.set_result(hundred(1));
    }
    const device::StreamGuard guard(reader);
    const Tensor value = future.wait();
    keep_busy(reader);
    read = value + 1;
  }
  {
    const device::StreamGuard guard(maker);
    next = hundred(0);
  }
  for (const Stream each : {maker, reader}) each.synchronize();
  expect_on(0, read, full({100}, 2));
  expect_on(0, next, full({100}, 0));
}

// Creates enough objects in sequence that calls reuse streams of earlier ones: calls do not get an object's memory
// before all its work is done.
DISTRUN_TEST(CudaRpcOrder, objects_go_when_calls_are_done_with_them) {
  start_with_map(rank, next_worker(rank), kToItself);
  const Tensor x = ones({1, 8}, {.device = device::cuda(0)});
  for (int i = 0; i < 70; ++i) {
    const auto layer =
        remote<LinearObject>(next_worker(rank), "Linear", 8, 8).remote().call<LinearObject>("to", device::cuda(0));
    DISTRUN_EXPECT(layer.rpc_sync().call<Tensor>("forward", x).sizes() == x.sizes());
  }
  rpc::shutdown();
}

DISTRUN_TEST(CudaRpcOrder, arguments_keep_their_memory_until_they_are_read) {
  start_with_map(rank, next_worker(rank), kToItself);
  expect_arguments_kept(rank, next_worker(rank));
  rpc::shutdown();
}
DISTRUN_TEST(CudaRpcOrder, arguments_of_a_worker_itself_keep_their_memory_until_they_are_read) {
  start_with_map(rank, std::string(rank.worker_name()), kToItself);
  expect_arguments_kept(rank, std::string(rank.worker_name()));
  rpc::shutdown();
}

// The host sends a tensor that a stream is still computing.
DISTRUN_TEST(CudaRpcOrder, what_goes_by_the_host_is_there_when_it_is_sent) {
  note_scale(rank);
  start_with_map(rank, next_worker(rank), {{0, "cpu"}});
  const Stream stream = device::stream_from_pool(device::cuda(0));
  const device::StreamGuard guard(stream);
  const Tensor x = hundred(0);
  keep_busy(stream);
  fill_(x, 1);
  const Tensor sum = rpc_sync(next_worker(rank), gpu_add_given_gpus, x, x, device::kCpu, device::kCpu, device::kCpu);
  expect_on(0, sum, full({100}, 2));
  rpc::shutdown();
}

// The method works in place on memory that was just handed out, and that the caller's stream still copies, since it is
// computed late.
DISTRUN_TEST(CudaRpcOrder, values_may_be_changed_once_they_were_fetched) {
  note_scale(rank);
  start_with_map(rank, next_worker(rank), kToItself);
  {
    const RRef<Tensor> value = remote(next_worker(rank), add_to_gpu, zeros({100}), 0);
    std::vector<Tensor> fetched;
    for (int i = 0; i < 3; ++i) {
      rpc_sync(next_worker(rank), add_to_local_value_late, value, 1);
      fetched.push_back(value.to_here());
      value.rpc_sync().call("add_", 1);
    }
    for (int i = 0; i < 3; ++i) expect_on(0, fetched[static_cast<std::size_t>(i)], full({100}, 2 * i + 1));
  }
  rpc::shutdown();
}

// The caller's stream waits for the callee's copy, although the answer returns no value.
DISTRUN_TEST(CudaRpcOrder, arguments_may_be_changed_once_a_call_was_answered) {
  note_scale(rank);
  start_with_map(rank, next_worker(rank), kToItself);
  const Tensor x = hundred(0);
  for (int i = 0; i < 3; ++i) {
    keep_busy(device::current_stream(x.device()));
    add_(x, 1);
    rpc_sync(next_worker(rank), gpu_take, x);
    add_(x, 1);
  }
  expect_on(0, x, full({100}, 6));
  rpc::shutdown();
}

// Other calls, still in progress, have got the streams on which that happened.
DISTRUN_TEST(CudaRpcOrder, values_are_fetched_after_what_calls_have_done_to_them) {
  start_with_map(rank, next_worker(rank), kToItself);
  {
    const RRef<Tensor> value = remote(next_worker(rank), add_to_gpu, zeros({100}), 0);
    for (int i = 0; i < 3; ++i) rpc_sync(next_worker(rank), add_to_local_value, value, 1);
    std::vector<Future<void>> others;
    for (int i = 0; i < 3; ++i) others.push_back(rpc_async(next_worker(rank), my_sleep_func, 0.05));
    rpc_sync(next_worker(rank), noop);  // queued after them: they have begun
    expect_on(0, value.to_here(), full({100}, 3));
    for (const auto& each : others) each.wait();
  }
  rpc::shutdown();
}
