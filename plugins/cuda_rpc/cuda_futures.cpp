// Futures of GPU values, as an RPC agent creates them: each rank alone.
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

// Computes the sum on one stream, which is still busy when the future is completed, and reads it on another.
template <class Value, class Wrap, class Unwrap>
Tensor hand_over(const Tensor& tensor, const Tensor& other, Wrap wrap, Unwrap unwrap) {
  const Device gpu = device::cuda(0);
  const Future<Value> future({gpu});
  {
    const device::StreamGuard guard(device::stream_from_pool(gpu));
    const Tensor sum = to(tensor, gpu);
    const Tensor added = to(other, gpu);
    keep_busy(device::current_stream(gpu));
    add_(sum, added);
    future.set_result(wrap(sum));
  }
  const device::StreamGuard guard(device::stream_from_pool(gpu));
  return cpu(unwrap(future.wait()));
}

template <class Value, class Wrap, class Unwrap>
void check_dense_in(Rank& rank, Wrap wrap, Unwrap unwrap) {
  note_scale(rank);
  const Tensor got = hand_over<Value>(zeros({100}), ones({100}), wrap, unwrap);
  DISTRUN_EXPECT(equal(got, ones({100})));
}

Tensor sparse_tensor() {
  return sparse_coo(from_values<std::int64_t>({0, 1, 1, 2, 0, 2}, {2, 3}), from_values<std::int64_t>({3, 4, 5}),
                    {2, 3});
}

template <class Value, class Wrap, class Unwrap>
void check_sparse_in(Rank& rank, Wrap wrap, Unwrap unwrap) {
  note_scale(rank);
  const auto wrap_coalesced = [&](const Tensor& sum) {
    const Tensor coalesced = coalesce(sum);  // waits for the device
    keep_busy(device::current_stream(sum.device()));
    mul_(sparse(coalesced).values, 1);
    return wrap(coalesced);
  };
  const Tensor got = hand_over<Value>(sparse_tensor(), sparse_tensor(), wrap_coalesced, unwrap);
  const Tensor expected = coalesce(add(sparse_tensor(), sparse_tensor()));
  DISTRUN_EXPECT(got.sizes() == expected.sizes());
  DISTRUN_EXPECT(equal(sparse(got).indices, sparse(expected).indices));
  DISTRUN_EXPECT(equal(sparse(got).values, sparse(expected).values));
}

using List = std::vector<Tensor>;
using Wrapper = std::shared_ptr<TensorWrapper>;

Tensor itself(const Tensor& tensor) { return tensor; }
List list_with(const Tensor& tensor) { return {tensor}; }
Tensor first_in(const List& list) { return list.front(); }
Wrapper wrapped(const Tensor& tensor) { return std::make_shared<TensorWrapper>(tensor); }
Tensor unwrapped(const Wrapper& wrapper) { return wrapper->tensor(); }

// Completes the future on a new stream, which is still busy.
void complete_late(const Future<Tensor>& future, const Tensor& tensor) {
  const device::StreamGuard guard(device::stream_from_pool(tensor.device()));
  keep_busy(device::current_stream(tensor.device()));
  fill_(tensor, 1);
  future.set_result(tensor);
}

}  // namespace

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_device_as_int, .devices = 1) {
  const Future<int> future({0});
  DISTRUN_EXPECT(future.state()->info().devices == std::vector{device::cuda(0)});
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_device_as_str, .devices = 1) {
  const Future<int> future({"cuda:0"});
  DISTRUN_EXPECT(future.state()->info().devices == std::vector{device::cuda(0)});
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_device_as_device, .devices = 1) {
  const Future<int> future({device::cuda(0)});
  DISTRUN_EXPECT(future.state()->info().devices == std::vector{device::cuda(0)});
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_device_not_cuda, .devices = 1) {
  DISTRUN_EXPECT(thrown_by([] { Future<int>({"cpu"}); }) ==
                 an_error("ValueError", "Expected devices to have indices, got cpu"));
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_can_extract_cuda_tensor, .devices = 1) {
  check_dense_in<Tensor>(rank, itself, itself);
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_can_extract_list_with_cuda_tensor, .devices = 1) {
  check_dense_in<List>(rank, list_with, first_in);
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_can_extract_custom_class_with_cuda_tensor, .devices = 1) {
  check_dense_in<Wrapper>(rank, wrapped, unwrapped);
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_can_extract_cuda_sparse_tensor, .devices = 1) {
  check_sparse_in<Tensor>(rank, itself, itself);
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_can_extract_list_with_cuda_sparse_tensor, .devices = 1) {
  check_sparse_in<List>(rank, list_with, first_in);
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_can_extract_custom_class_with_cuda_sparse_tensor, .devices = 1) {
  check_sparse_in<Wrapper>(rank, wrapped, unwrapped);
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_callback_changes_devices, .devices = 2) {
  expect_callback_copies(rank, 0, 1);
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_value_on_bad_device, .devices = 2) {
  note_scale(rank);
  const Tensor first = full({100}, 0, {.device = device::cuda(0)});
  const Tensor second = full({100}, 0, {.device = device::cuda(1)});
  device::synchronize(device::cuda(0));
  device::synchronize(device::cuda(1));
  const Future<Tensor> parent({1});
  const Future<Tensor> child = parent.then([second](const Future<Tensor>&) {
    const device::StreamGuard guard(device::current_stream(device::cuda(1)));
    keep_busy(device::current_stream(device::cuda(1)));
    fill_(second, 1);
    return second;
  });
  complete_late(parent, first);
  DISTRUN_EXPECT(thrown_by([&] { parent.wait(); }) ==
                 an_error("ValueError",
                          "The result contained tensors residing on device(s) cuda:0 which are not among the expected "
                          "device(s) cuda:1"));
  const device::StreamGuard guard(device::stream_from_pool(device::cuda(1)));
  DISTRUN_EXPECT(equal(cpu(child.wait()), ones({100})));
  device::synchronize(device::cuda(0));  // before `first` is released: nothing else waits for its work
}

// The test does not specify which values are seen.
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_modify_tensor_inplace, .devices = 1) {
  const Tensor tensor = full({100}, 0, {.device = device::cuda(0)});
  const Future<Tensor> future({0});
  future.set_result(tensor);
  fill_(tensor, 1);
  DISTRUN_EXPECT(future.wait().is_same(tensor));
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_replace_tensor, .devices = 1) {
  const auto list = std::make_shared<List>(List{full({100}, 0, {.device = device::cuda(0)})});
  const Future<std::shared_ptr<List>> future({0});
  future.set_result(list);
  list->front() = full({100}, 1, {.device = device::cuda(0)});
  DISTRUN_EXPECT(equal(cpu(future.wait()->front()), ones({100})));
}
