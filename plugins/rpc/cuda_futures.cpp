// Futures whose values are on GPUs, as an RPC agent hands them out: each rank on its own.
#include <distrun/test.hpp>

#include <mutex>
#include <thread>

#include <distrun/runtime/future/future.hpp>
#include <distrun/tensors.hpp>

using namespace distrun;
namespace t = distrun::tensor;

namespace {

// The suite's sixteen ranks and their streams share a few cores: a tenth of the second that a stream is busy elsewhere.
constexpr std::uint64_t kBusyPart = 10;

void keep_busy(Stream stream) {
  device::Driver& driver = stream.driver();
  driver.busy(stream.ref(), driver.properties(stream.device().index).clock_hz / kBusyPart);
}

Tensor filled(Device device, double value) { return t::full({100}, value, {DType::F32, device}); }
Tensor on_host(const Tensor& tensor) { return t::to(tensor, device::kCpu); }

// A class with members that no wire could take.
class TensorWrapper {
 public:
  explicit TensorWrapper(Tensor tensor) : tensor_(std::move(tensor)), event_(device::EventOptions{.timing = true}) {
    event_.record(device::current_stream(tensor_.device()));
  }
  ~TensorWrapper() { thread_.join(); }
  TensorWrapper(const TensorWrapper&) = delete;
  TensorWrapper& operator=(const TensorWrapper&) = delete;

  const Tensor& tensor() const noexcept { return tensor_; }
  void visit_tensors(const future::TensorVisitor& visit) const {
    const std::lock_guard lock(mutex_);
    visit(tensor_);
  }

 private:
  Tensor tensor_;
  mutable std::mutex mutex_;
  Event event_;
  std::thread thread_{[] {}};
};

// The sum is made on one stream, which is still busy when the future is completed, and read on another.
template <class Value, class Wrap, class Unwrap>
Tensor hand_over(const Tensor& tensor, const Tensor& other, Wrap wrap, Unwrap unwrap) {
  const Device gpu = device::cuda(0);
  const Future<Value> future({gpu});
  {
    const device::StreamGuard guard(device::stream_from_pool(gpu));
    const Tensor sum = t::to(tensor, gpu);
    const Tensor added = t::to(other, gpu);
    keep_busy(device::current_stream(gpu));
    t::add_(sum, added);
    future.set_result(wrap(sum));
  }
  const device::StreamGuard guard(device::stream_from_pool(gpu));
  return on_host(unwrap(future.wait()));
}

template <class Value, class Wrap, class Unwrap>
void check_dense_in(Wrap wrap, Unwrap unwrap) {
  const Tensor got = hand_over<Value>(t::zeros({100}), t::ones({100}), wrap, unwrap);
  DISTRUN_EXPECT(t::equal(got, t::ones({100})));
}

Tensor sparse_tensor() {
  return t::sparse_coo(t::from_values<std::int64_t>({0, 1, 1, 2, 0, 2}, {2, 3}),
                       t::from_values<std::int64_t>({3, 4, 5}), {2, 3});
}

template <class Value, class Wrap, class Unwrap>
void check_sparse_in(Wrap wrap, Unwrap unwrap) {
  const auto wrap_coalesced = [&](const Tensor& sum) {
    const Tensor coalesced = t::coalesce(sum);  // waits for the device
    keep_busy(device::current_stream(sum.device()));
    t::mul_(t::sparse(coalesced).values, 1);
    return wrap(coalesced);
  };
  const Tensor got = hand_over<Value>(sparse_tensor(), sparse_tensor(), wrap_coalesced, unwrap);
  const Tensor expected = t::coalesce(t::add(sparse_tensor(), sparse_tensor()));
  DISTRUN_EXPECT(got.sizes() == expected.sizes());
  DISTRUN_EXPECT(t::equal(t::sparse(got).indices, t::sparse(expected).indices));
  DISTRUN_EXPECT(t::equal(t::sparse(got).values, t::sparse(expected).values));
}

using List = std::vector<Tensor>;
using Wrapper = std::shared_ptr<TensorWrapper>;

Tensor itself(const Tensor& tensor) { return tensor; }
List list_with(const Tensor& tensor) { return {tensor}; }
Tensor first_in(const List& list) { return list.front(); }
Wrapper wrapped(const Tensor& tensor) { return std::make_shared<TensorWrapper>(tensor); }
Tensor unwrapped(const Wrapper& wrapper) { return wrapper->tensor(); }

// On a stream of its own, which is still busy.
void complete_late(const Future<Tensor>& future, const Tensor& tensor) {
  const device::StreamGuard guard(device::stream_from_pool(tensor.device()));
  keep_busy(device::current_stream(tensor.device()));
  t::fill_(tensor, 1);
  future.set_result(tensor);
}

}  // namespace

DISTRUN_SUITE(TensorPipeAgentCudaRpcTest, .world_size = fixed(4), .devices = 2);

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_device_as_int) {
  const Future<int> future({0});
  DISTRUN_EXPECT(future.state()->info().devices == std::vector{device::cuda(0)});
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_device_as_str) {
  const Future<int> future({"cuda:0"});
  DISTRUN_EXPECT(future.state()->info().devices == std::vector{device::cuda(0)});
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_device_as_device) {
  const Future<int> future({device::cuda(0)});
  DISTRUN_EXPECT(future.state()->info().devices == std::vector{device::cuda(0)});
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_device_not_cuda) {
  DISTRUN_EXPECT_THROWS(distrun::Error, "Expected devices to have indices, got cpu", Future<int>({"cpu"}));
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_can_extract_cuda_tensor) {
  check_dense_in<Tensor>(itself, itself);
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_can_extract_list_with_cuda_tensor) {
  check_dense_in<List>(list_with, first_in);
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_can_extract_custom_class_with_cuda_tensor) {
  check_dense_in<Wrapper>(wrapped, unwrapped);
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_can_extract_cuda_sparse_tensor) {
  check_sparse_in<Tensor>(itself, itself);
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_can_extract_list_with_cuda_sparse_tensor) {
  check_sparse_in<List>(list_with, first_in);
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_can_extract_custom_class_with_cuda_sparse_tensor) {
  check_sparse_in<Wrapper>(wrapped, unwrapped);
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_callback_changes_devices) {
  const Tensor first = filled(device::cuda(0), 0);
  const Tensor second = filled(device::cuda(1), 0);
  device::synchronize(device::cuda(0));
  device::synchronize(device::cuda(1));
  const Future<Tensor> parent({0, 1});
  const Future<Tensor> child = parent.then([second](const Future<Tensor>& done) {
    t::copy_(second, done.value(), true);
    return second;
  });
  complete_late(parent, first);
  const device::StreamGuard guard(device::stream_from_pool(device::cuda(1)));
  DISTRUN_EXPECT(t::equal(on_host(child.wait()), t::ones({100})));
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_value_on_bad_device) {
  const Tensor first = filled(device::cuda(0), 0);
  const Tensor second = filled(device::cuda(1), 0);
  device::synchronize(device::cuda(0));
  device::synchronize(device::cuda(1));
  const Future<Tensor> parent({1});
  const Future<Tensor> child = parent.then([second](const Future<Tensor>&) {
    const device::StreamGuard guard(device::current_stream(device::cuda(1)));
    keep_busy(device::current_stream(device::cuda(1)));
    t::fill_(second, 1);
    return second;
  });
  complete_late(parent, first);
  DISTRUN_EXPECT_THROWS(distrun::Error,
                        "The result contained tensors residing on device(s) cuda:0 which are not among the expected "
                        "device(s) cuda:1",
                        parent.wait());
  const device::StreamGuard guard(device::stream_from_pool(device::cuda(1)));
  DISTRUN_EXPECT(t::equal(on_host(child.wait()), t::ones({100})));
  device::synchronize(device::cuda(0));  // before `first` goes: nothing else comes after what was asked of it
}

// Which values are seen is not said.
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_modify_tensor_inplace) {
  const Tensor tensor = filled(device::cuda(0), 0);
  const Future<Tensor> future({0});
  future.set_result(tensor);
  t::fill_(tensor, 1);
  DISTRUN_EXPECT(future.wait().is_same(tensor));
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, cuda_future_replace_tensor) {
  const auto list = std::make_shared<List>(List{filled(device::cuda(0), 0)});
  const Future<std::shared_ptr<List>> future({0});
  future.set_result(list);
  list->front() = filled(device::cuda(0), 1);
  DISTRUN_EXPECT(t::equal(on_host(future.wait()->front()), t::ones({100})));
}
