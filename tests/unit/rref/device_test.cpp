// Values on GPUs: a reader is ordered after the streams that compute a value, without a wait on the host.
#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>

#include "reference_ranks.hpp"
#include "support/order_reports.hpp"

namespace distrun::rref {
namespace device_test {

const device::Device kGpu = device::cuda(0);

// The stream is busy first: when this returns, the value is not computed yet.
Tensor late_value(double value) {
  device::Driver& driver = device::gpu_driver();
  driver.busy(device::current_stream(kGpu).ref(), driver.properties(0).clock_hz / 50);
  return tensor::full({64}, value, {DType::F32, kGpu});
}
DISTRUN_RPC(late_value)

double first_of(const Tensor& tensor) {
  return tensor::select_view(tensor::to(tensor, device::kCpu), 0, 0).item_as<double>();
}
// Reads on yet another stream.
double read(const std::function<Tensor()>& get) {
  const device::StreamGuard guard(device::stream_from_pool(kGpu));
  return first_of(get());
}

// worker0 and worker1; tensors stay on their GPU.
class GpuRanks {
 public:
  GpuRanks() {
    REQUIRE(ranks_.run([&](int rank) {
      const auto options = std::make_shared<rpc::PipeOptions>();
      for (const int other : {0, 1}) options->set_device_map(rpc::name_of(other), {{0, 0}});
      rpc::init_rpc(ranks_.options(rank, options));
    }) == rpc::no_errors(2));
  }
  std::string error_as(int rank, const std::function<void()>& body) const { return ranks_.error_as(rank, body); }

 private:
  rpc::Ranks ranks_{2};
};

}  // namespace device_test

namespace {

using namespace device_test;

TEST_CASE("an owner that reads its value on another stream is ordered after the stream that computes it") {
  const GpuRanks ranks;
  const distrun::testing::OrderReports found;
  CHECK(ranks.error_as(0, [] {
    const auto local = remote("worker0", late_value, 3.0);
    CHECK(read([&] { return local.local_value(); }) == 3);
    CHECK(read([&] { return local.to_here(); }) == 3);
    CHECK(read([&] { return local.to_here_async().wait(); }) == 3);
  }) == "");
  CHECK(found.text() == "");
}

TEST_CASE("a value that is fetched is ordered after the streams that compute it at its owner") {
  const GpuRanks ranks;
  const distrun::testing::OrderReports found;
  CHECK(ranks.error_as(0, [] {
    const auto there = remote("worker1", late_value, 4.0);
    CHECK(read([&] { return there.to_here(); }) == 4);
    CHECK(read([&] { return there.to_here_async().wait(); }) == 4);
  }) == "");
  CHECK(found.text() == "");
}

TEST_CASE("a method of a value, and a function with a reference to it, are ordered after the streams that compute it") {
  const GpuRanks ranks;
  const distrun::testing::OrderReports found;
  CHECK(ranks.error_as(0, [] {
    const auto there = remote("worker1", late_value, 5.0);
    CHECK(read([&] { return there.rpc_sync().call<Tensor>("add", 1); }) == 6);
    const auto more = there.remote().call<Tensor>("mul", 2);
    CHECK(read([&] { return more.to_here(); }) == 10);
    for (const char* owner : {"worker0", "worker1"}) {
      const auto unknown = remote(owner, late_value, 6.0);  // its type is requested first
      CHECK(read([&] { return unknown.rpc_async().call<Tensor>("add", 1).wait(); }) == 7);
    }
  }) == "");
  CHECK(found.text() == "");
}

// Proves that the tests above detect a value read without ordering.
TEST_CASE("a value that is read without its reference is reported as read too early") {
  const GpuRanks ranks;
  const distrun::testing::OrderReports found;
  Tensor early;
  CHECK(ranks.error_as(0, [&] {
    early = late_value(6);
    read([&] { return early; });
  }) == "");
  CHECK(has(found.text(), "is not ordered after"));
}

}  // namespace
}  // namespace distrun::rref
