// Tensors on GPUs as arguments and results, mapped by the caller's device map.
#include <catch2/catch.hpp>

#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>

#include "session_ranks.hpp"

namespace distrun::rpc {
namespace session_devices_test {

using device::Device;
const Device kCpu = device::kCpu, kFirst = device::cuda(0), kSecond = device::cuda(1);

Tensor filled(Device device, double value) { return tensor::full({3}, value, {DType::F32, device}); }

std::string device_of(const Tensor& tensor) { return device::to_string(tensor.device()); }
Tensor twice(const Tensor& tensor) { return tensor::add(tensor, tensor); }
std::vector<Tensor> both(const Tensor& a, const Tensor& b) { return {b, a}; }
Tensor make_on(const Device& device) { return filled(device, 3); }
DISTRUN_RPC(device_of)
DISTRUN_RPC(twice)
DISTRUN_RPC(both)
DISTRUN_RPC(make_on)

// Returns "cuda:1 [4, 4, 4]".
std::string told(const Tensor& tensor) {
  std::string text = device_of(tensor);
  const Tensor here = tensor::to(tensor, kCpu);
  for (std::int64_t i = 0; i < here.numel(); ++i) {
    text += " " + std::to_string(static_cast<int>(tensor::select_view(here, 0, i).item_as<double>()));
  }
  return text;
}

// Returns the answers to worker0, which has the map.
std::vector<std::string> asked_with_map(const std::string& worker,
                                        const std::vector<std::pair<MapDevice, MapDevice>>& map,
                                        const std::vector<std::function<std::string()>>& asks) {
  const Ranks ranks(2);
  std::vector<std::string> answers;
  CHECK(ranks.run([&](int rank) {
    const auto options = std::make_shared<PipeOptions>();
    if (rank == 0) options->set_device_map(worker, map);
    init_rpc(ranks.options(rank, options));
    for (std::size_t i = 0; rank == 0 && i < asks.size(); ++i) {
      try {
        answers.push_back(asks[i]());
      } catch (const Error& error) {
        answers.push_back(error.type() + ": " + error.what());
      }
    }
    shutdown();
  }) == no_errors(2));
  return answers;
}

const std::string kOnlyCpu =
    "RuntimeError: TensorPipe RPC backend only supports CPU tensors by default, please move your tensors to CPU before "
    "sending them over RPC, or call `set_device_map` on `TensorPipeRpcBackendOptions` to explicitly configure device "
    "mapping. ";

}  // namespace session_devices_test

namespace {

using namespace session_devices_test;

TEST_CASE("a tensor is sent to the device that the map has for it, and its result is returned the same way") {
  CHECK(asked_with_map("worker1", {{0, 1}},
                       {[] { return rpc_sync(1, device_of, filled(kFirst, 1)); },
                        [] { return told(rpc_sync(1, twice, filled(kFirst, 2))); },
                        [] { return told(rpc_sync<Tensor>(1, "add", filled(kFirst, 2), filled(kFirst, 5))); },
                        [] { return told(rpc_sync(1, twice, filled(kCpu, 4))); },
                        [] { return told(rpc_sync(1, make_on, kSecond)); }}) ==
        std::vector<std::string>{"cuda:1", "cuda:0 4 4 4", "cuda:0 7 7 7", "cpu 8 8 8", "cuda:0 3 3 3"});
}

TEST_CASE("maps may cross, and lead to the CPU and from it") {
  const auto both_ways = [](Device a, Device b) {
    return [a, b] {
      const std::vector<Tensor> back = rpc_sync(1, both, filled(a, 1), filled(b, 2));
      return told(back.at(0)) + ", " + told(back.at(1));
    };
  };
  CHECK(asked_with_map("worker1", {{0, 1}, {1, 0}},
                       {both_ways(kFirst, kSecond), [] { return rpc_sync(1, device_of, filled(kSecond, 1)); }}) ==
        std::vector<std::string>{"cuda:1 2 2 2, cuda:0 1 1 1", "cuda:0"});
  CHECK(asked_with_map("worker1", {{"cpu", 1}, {0, "cpu"}},
                       {both_ways(kCpu, kFirst), [] { return rpc_sync(1, device_of, filled(kCpu, 1)); },
                        [] { return rpc_sync(1, device_of, filled(kFirst, 1)); }}) ==
        std::vector<std::string>{"cuda:0 2 2 2, cpu 1 1 1", "cuda:1", "cpu"});
}

TEST_CASE("a local call uses the caller's own map") {
  CHECK(asked_with_map("worker0", {{0, 1}, {1, 0}},
                       {[] { return rpc_sync(0, device_of, filled(kFirst, 1)); },
                        [] { return told(rpc_sync(0, twice, filled(kFirst, 2))); }}) ==
        std::vector<std::string>{"cuda:1", "cuda:0 4 4 4"});
}

TEST_CASE("a tensor on a device outside the map is refused at once, in both directions, and calls still work") {
  std::vector<std::function<std::string()>> asks;
  for (int i = 0; i < 25; ++i) {  // more than there are threads
    asks.push_back([] { return told(rpc_sync(1, twice, filled(kSecond, 1))); });
    asks.push_back([] { return told(rpc_sync(1, make_on, kFirst)); });
  }
  asks.push_back([] { return told(rpc_sync(1, twice, filled(kFirst, 1))); });
  const std::vector<std::string> answers = asked_with_map("worker1", {{0, 1}}, asks);
  REQUIRE(answers.size() == asks.size());
  for (std::size_t i = 0; i < 50; i += 2) {
    CHECK(answers[i] == kOnlyCpu + "Request device mapping is not available for destination worker1: cuda:1 has none");
    CHECK(answers[i + 1] ==
          kOnlyCpu + "Response device mapping is not available for destination worker0: cuda:0 has none");
  }
  CHECK(answers.back() == "cuda:0 2 2 2");
}

TEST_CASE("the callee sees the result of work that a stream still does when the call is made") {
  CHECK(asked_with_map("worker1", {{0, 1}}, {[] {
                         const device::StreamGuard guard(device::stream_from_pool(kFirst));
                         const device::Stream stream = device::current_stream(kFirst);
                         const Tensor tensor = filled(kFirst, 1);
                         device::Driver& driver = stream.driver();
                         driver.busy(stream.ref(), driver.properties(stream.device().index).clock_hz / 20);
                         tensor::add_(tensor, filled(kFirst, 4));
                         return told(rpc_sync(1, twice, tensor));
                       }}) == std::vector<std::string>{"cuda:0 10 10 10"});
}

}  // namespace
}  // namespace distrun::rpc
