#pragma once
// Shared by the tests of RPC with tensors on GPUs.
#include <string>
#include <utility>
#include <vector>

#include "callees.hpp"
#include "support/device_scale.hpp"
#include "support/rpc_suites.hpp"

// RPC around a test, without device maps.
class TensorPipeAgentCudaRpcTest : public distrun::suites::RpcAgentTest {};

namespace distrun::suites {

using DevicePairs = std::vector<std::pair<rpc::MapDevice, rpc::MapDevice>>;  // from here to there

inline Tensor zeros_on(rpc::MapDevice where) { return zeros({2}, {.device = where.device}); }
inline Tensor ones_on(rpc::MapDevice where) { return ones({2}, {.device = where.device}); }

// Checks the device and the elements.
inline void expect_on(rpc::MapDevice where, const Tensor& actual, const Tensor& expected) {
  DISTRUN_EXPECT(device::to_string(actual.device()) == device::to_string(where.device));
  DISTRUN_EXPECT(what_differs(actual, expected) == "");
}

// Starts RPC with a device map for calls to that worker.
inline void start_with_map(Rank& rank, const std::string& worker, const DevicePairs& map) {
  const auto options = rpc_options(rank);
  options->set_device_map(worker, map);
  rank.barrier("all have begun");
  start_rpc(rank, options);
}

// ---- shared by the tests with two devices and their reduced forms; each starts and ends the session

// That worker adds zeros and ones from these devices; the sum is on `z_to` there.
void expect_sum_by_map(Rank& rank, const std::string& worker, const DevicePairs& map, rpc::MapDevice x_from,
                       rpc::MapDevice y_from, rpc::MapDevice z_to);
// Fetches a reference to a tensor on the next worker's cuda:0 twice; the result is on `here`.
void expect_fetched_by_map(Rank& rank, const DevicePairs& map, rpc::MapDevice here);
// Calls the next worker, which adds slowly on a separate stream: once, and twenty times concurrently.
void expect_slow_add(Rank& rank, const DevicePairs& map);
void expect_many_slow_adds(Rank& rank, const DevicePairs& map);
// The same for the next worker and the one after it: once by all ranks, and five times concurrently by rank 0.
void expect_nested_slow_add(Rank& rank, const DevicePairs& map);
void expect_many_nested_slow_adds(Rank& rank, const DevicePairs& map);
// Rank 0 has maps for workers that join later.
void expect_calls_of_newcomers(Rank& rank, const std::vector<DevicePairs>& maps);
// Computes a value on a busy stream of `from`; a callback copies it to `to`, where another stream reads the copy.
void expect_callback_copies(Rank& rank, rpc::MapDevice from, rpc::MapDevice to);

}  // namespace distrun::suites
