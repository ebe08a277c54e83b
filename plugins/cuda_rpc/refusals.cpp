// Invalid device maps, and tensors without a mapped device.
#include <regex>
#include <thread>

#include <distrun/runtime/future/handler_pool.hpp>

#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

// All ranks have the same options; each gets the first error, that of worker0.
void expect_no_session(Rank& rank, const std::shared_ptr<const rpc::PipeOptions>& options, const std::string& what) {
  rank.barrier("all have begun");
  DISTRUN_EXPECT(thrown_by([&] { start_rpc(rank, options); }) == an_error("ValueError", "Node worker0 has " + what));
  DISTRUN_EXPECT(!rpc::is_initialized());
}
void expect_no_session(Rank& rank, const std::vector<DevicePairs>& maps, const std::string& what) {
  const auto options = rpc_options(rank);
  for (const DevicePairs& map : maps) options->set_device_map(next_worker(rank), map);
  expect_no_session(rank, options, what);
}

// Returns an empty string for a generic error with a line that matches the pattern.
std::string what_else(const Thrown& thrown, const std::string& pattern) {
  const bool is_it = thrown.type == "RuntimeError" && std::regex_search(thrown.text, std::regex(pattern));
  return is_it ? "" : thrown.type + ": " + thrown.text;
}
constexpr char kNoMap[] =
    "TensorPipe RPC backend only supports CPU tensors by default.*`set_device_map` on `TensorPipeRpcBackendOptions`";
constexpr char kNoWayBack[] = "Response device mapping is not available";

// Calls with a GPU argument, and calls with a GPU result.
void call_with(const Rank& rank) { rpc_sync<Tensor>(next_worker(rank), "add", zeros_on(0), 1); }
void call_for(const Rank& rank) { rpc_sync(next_worker(rank), add_to_gpu, zeros({2}), 1); }
void refer_with(const Rank& rank) { remote<Tensor>(next_worker(rank), "add", zeros_on(0), 1).to_here(); }
void refer_for(const Rank& rank) { remote(next_worker(rank), add_to_gpu, zeros({2}), 1).to_here(); }

// Checks the error, and that a later call works.
template <class Call>
void expect_refused(const Rank& rank, const Call& call, const std::string& pattern) {
  DISTRUN_EXPECT(what_else(thrown_by([&] { call(rank); }), pattern) == "");
  DISTRUN_EXPECT(what_differs(rpc_sync<Tensor>(next_worker(rank), "add", ones({2}), 1), full({2}, 2)) == "");
}

// Returns whether all handlers become idle within a few seconds.
bool handlers_rest() {
  const base::TimePoint end = base::system_clock().now() + std::chrono::seconds(5);
  while (base::system_clock().now() < end) {
    if (future::handler_pool().statistics().running == 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// Repeats the call often enough that losing one thread per call would leave none; checks that none is lost.
template <class Call>
void expect_always_refused(Rank& rank, const Call& call, const std::string& pattern) {
  const int threads = rpc_options(rank)->num_worker_threads;
  for (int i = 0; i < threads + 5; ++i) expect_refused(rank, call, pattern);
  rank.barrier("all calls are done");
  DISTRUN_EXPECT(handlers_rest());
}

}  // namespace

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_maps_wrong_worker_name, .devices = 2) {
  const auto options = rpc_options(rank);
  options->set_device_map("none_exist", {{0, 1}});
  expect_no_session(rank, options, "invalid target node names in its device maps");
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_maps_invalid_max_local_device, .devices = 1) {
  expect_no_session(rank, {{{rank.gpus(), 0}}}, "source devices with invalid indices in its device map for worker1");
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_maps_invalid_max_remote_device, .devices = 1) {
  expect_no_session(rank, {{{0, rank.gpus()}}}, "target devices with invalid indices in its device map for worker1");
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_maps_many_to_one, .devices = 2) {
  expect_no_session(rank, {{{1, 0}}, {{0, 0}}}, "duplicated target devices in its device map for worker1");
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_maps_one_to_many, .devices = 2) {
  if (!rank.is_master()) return;
  const auto options = rpc_options(rank);
  options->set_device_map("worker1", {{0, 1}});
  DISTRUN_EXPECT(thrown_by([&] {
                   options->set_device_map("worker1", {{0, 0}});
                 }) == an_error("ValueError", "`set_device_map` only supports 1-to-1 mapping"));
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_maps_invalid_min_device, .devices = 1) {
  const auto options = rpc_options(rank);
  const WantedError refused = an_error("RuntimeError", "Device index must not be negative");
  DISTRUN_EXPECT(thrown_by([&] { options->set_device_map(next_worker(rank), {{-1, 0}}); }) == refused);
  DISTRUN_EXPECT(thrown_by([&] { options->set_device_map(next_worker(rank), {{0, -1}}); }) == refused);
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, devices_option_mismatch, .devices = 2) {
  const auto options = rpc_options(rank);
  options->set_device_map(next_worker(rank), {{0, 0}});
  options->set_devices({1});
  expect_no_session(rank, options, "unexpected source devices in its device map for worker1");
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, devices_option_mismatch_reverse, .devices = 2) {
  const auto usual = rpc_options(rank);
  const std::map<std::string, rpc::DeviceMap> maps{{next_worker(rank), {{device::cuda(0), device::cuda(1)}}}};
  const auto options = std::make_shared<rpc::PipeOptions>(usual->num_worker_threads, usual->rpc_timeout,
                                                          usual->init_method, maps, std::vector<rpc::MapDevice>{0});
  expect_no_session(rank, options, "unexpected target devices in its device map for worker1");
}

DISTRUN_TEST_F(TensorPipeAgentCudaRpcTest, device_maps_missing_config, .devices = 1) {
  expect_refused(rank, call_with, kNoMap);
}
DISTRUN_TEST_F(TensorPipeAgentCudaRpcTest, device_maps_missing_config_loop, .devices = 1) {
  expect_always_refused(rank, call_with, kNoMap);
}
DISTRUN_TEST_F(TensorPipeAgentCudaRpcTest, device_maps_missing_config_response, .devices = 1) {
  expect_refused(rank, call_for, kNoWayBack);
}
DISTRUN_TEST_F(TensorPipeAgentCudaRpcTest, device_maps_missing_config_response_loop, .devices = 1) {
  expect_always_refused(rank, call_for, kNoWayBack);
}
DISTRUN_TEST_F(TensorPipeAgentCudaRpcTest, device_maps_missing_config_remote, .devices = 1) {
  expect_refused(rank, refer_with, kNoMap);
}
DISTRUN_TEST_F(TensorPipeAgentCudaRpcTest, device_maps_missing_config_remote_response, .devices = 1) {
  expect_refused(rank, refer_for, kNoWayBack);
}

// A shutdown has nothing to wait for until its timeout.
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_maps_missing_config_not_timeout, .devices = 1) {
  rank.barrier("all have begun");
  start_rpc(rank);
  const base::Nanoseconds limit =
      std::chrono::duration_cast<base::Nanoseconds>(std::chrono::duration<double>(rpc::get_rpc_timeout()));
  const base::TimePoint begin = base::system_clock().now();
  expect_refused(rank, call_with, kNoMap);
  rpc::shutdown();
  DISTRUN_EXPECT(base::system_clock().now() - begin < limit);
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, device_mismatch, .devices = 1) {
  start_with_map(rank, next_worker(rank), {{0, 0}});
  const Thrown thrown = thrown_by([&] { rpc_sync(next_worker(rank), gpu_add_wrong_gpus, zeros_on(0), ones_on(0)); });
  DISTRUN_EXPECT(what_else(thrown, "Expected all tensors to be on the same device, but found at least two devices") ==
                 "");
  rpc::shutdown();
}
