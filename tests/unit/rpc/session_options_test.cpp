// Options of workers: accepted and refused values.
#include <catch2/catch.hpp>

#include <chrono>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/session/backends.hpp>
#include <distrun/runtime/rpc/session/options.hpp>
#include <distrun/runtime/rpc/values/convert.hpp>

namespace distrun::rpc {
namespace {

static_assert(std::is_constructible_v<PipeOptions, int, double>);
static_assert(!std::is_constructible_v<PipeOptions, int, std::chrono::seconds>);
static_assert(!std::is_constructible_v<PipeOptions, int, std::chrono::milliseconds>);

template <class Body>
std::string type_of(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error.type();
  }
  return "";
}

TEST_CASE("defaults are those of PyTorch") {
  const PipeOptions options;
  CHECK(options.num_worker_threads == 16);
  CHECK(options.rpc_timeout == 60);
  CHECK(options.init_method.empty());
  CHECK_THROWS_WITH(PipeOptions(0), Catch::Contains("num_worker_threads must be positive, got 0"));
  CHECK_THROWS_WITH(PipeOptions(1, -0.5), Catch::Contains("RPC Timeout must be non-negative"));
}

TEST_CASE("device maps of one worker are merged") {
  PipeOptions options;
  options.set_device_map("worker1", {{0, 1}});
  options.set_device_map("worker1", {{"cuda:1", "cuda:0"}, {"cpu", 2}});
  CHECK(options.device_maps.at("worker1") == DeviceMap{{device::cuda(0), device::cuda(1)},
                                                       {device::cuda(1), device::cuda(0)},
                                                       {device::kCpu, device::cuda(2)}});
  options.set_device_map("worker1", {{0, 1}});  // already present
  CHECK(options.device_maps.at("worker1").size() == 3);
}

TEST_CASE("a device map is one to one") {
  PipeOptions options;
  options.set_device_map("worker1", {{0, 1}});
  const auto again = [&] { options.set_device_map("worker1", {{0, 0}}); };
  CHECK_THROWS_WITH(again(), Catch::Contains("`set_device_map` only supports 1-to-1 mapping"));
  CHECK(type_of(again) == "ValueError");
  CHECK_THROWS_WITH(options.set_device_map("worker2", {{0, 1}, {1, 1}}), Catch::Contains("only supports 1-to-1"));
  options.set_device_map("worker1", {{1, 1}});  // in two calls: refused when the session starts, on all ranks
  CHECK(options.device_maps.at("worker1").at(device::cuda(0)) == device::cuda(1));
}

TEST_CASE("an invalid device is refused where it is written") {
  PipeOptions options;
  const auto below = [&] { options.set_device_map("worker1", {{-1, 0}}); };
  CHECK_THROWS_WITH(below(), Catch::Contains("Device index must not be negative"));
  CHECK(type_of(below) == "RuntimeError");
  CHECK_THROWS_WITH(options.set_device_map("worker1", {{0, -1}}), Catch::Contains("Device index must not be negative"));
  CHECK_THROWS_WITH(MapDevice("gpu:1"), Catch::Contains("gpu:1"));
  CHECK_THROWS_WITH(MapDevice("cuda:1x"), Catch::Contains("cuda:1x"));
  CHECK(MapDevice("cuda").device == device::cuda(0));
}

TEST_CASE("declared devices are GPUs") {
  PipeOptions options;
  options.set_devices({0, "cuda:2"});
  CHECK(options.devices == std::vector<device::Device>{device::cuda(0), device::cuda(2)});
  CHECK_THROWS_WITH(options.set_devices({"cpu"}), Catch::Contains("`set_devices` expect a list of CUDA devices"));
}

TEST_CASE("a dictionary is converted to options") {
  const PipeOptions options = PipeOptions::from(to_value(std::map<std::string, Value>{
      {"rpc_timeout", to_value(5)},
      {"num_worker_threads", to_value(3)},
      {"init_method", to_value("tcp://localhost:1")},
      {"device_maps", to_value(std::map<std::string, std::map<int, int>>{{"worker1", {{0, 1}}}})},
      {"devices", to_value(std::vector<std::string>{"cuda:1"})},
      {"transports", to_value(std::vector<std::string>{"shm"})}}));
  CHECK(options.rpc_timeout == 5);
  CHECK(options.num_worker_threads == 3);
  CHECK(options.init_method == "tcp://localhost:1");
  CHECK(options.device_maps.at("worker1") == DeviceMap{{device::cuda(0), device::cuda(1)}});
  CHECK(options.devices == std::vector<device::Device>{device::cuda(1)});
  CHECK(options.transports == std::vector<std::string>{"shm"});
}

TEST_CASE("an invalid dictionary has incompatible arguments") {
  const auto wrong = GENERATE(std::map<std::string, Value>{{"rpc_timeout", to_value("5 seconds")}},
                              std::map<std::string, Value>{{"timeout", to_value(5)}},
                              std::map<std::string, Value>{{"num_worker_threads", to_value(1.5)}});
  const auto make = [&] { PipeOptions::from(to_value(wrong)); };
  CHECK_THROWS_WITH(make(), Catch::Contains("incompatible constructor arguments"));
  CHECK(type_of(make) == "TypeError");
}

TEST_CASE("a backend's name can be registered once") {
  const auto make = [](const AgentSetting&, const RpcBackendOptions&) { return std::shared_ptr<Agent>(); };
  const Backend stub = register_backend({"stub_backend", {}, {}, make, {}});
  CHECK(stub.name() == "stub_backend");
  CHECK(find_backend("stub_backend").name() == "stub_backend");
  CHECK_THROWS_WITH(register_backend({"stub_backend", {}, {}, make, {}}),
                    "RPC backend stub_backend: already registered");
  CHECK_THROWS_WITH(find_backend("nowhere"), Catch::Contains("nowhere") && Catch::Contains("stub_backend"));
}

TEST_CASE("options of an unknown backend are refused") {
  struct OfNoBackend : RpcBackendOptions {};
  const auto infer = [] { backend_of(OfNoBackend()); };
  CHECK_THROWS_WITH(infer(), Catch::Contains("Could not infer backend for options"));
  CHECK(type_of(infer) == "TypeError");
}

}  // namespace
}  // namespace distrun::rpc
