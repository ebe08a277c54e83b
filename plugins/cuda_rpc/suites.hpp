#pragma once
// What the tests of RPC with tensors on GPUs have in common.
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

// Where it is, and that it has these elements.
inline void expect_on(rpc::MapDevice where, const Tensor& actual, const Tensor& expected) {
  DISTRUN_EXPECT(device::to_string(actual.device()) == device::to_string(where.device));
  DISTRUN_EXPECT(what_differs(actual, expected) == "");
}

// RPC with a map for calls of that worker.
inline void start_with_map(Rank& rank, const std::string& worker, const DevicePairs& map) {
  const auto options = rpc_options(rank);
  options->set_device_map(worker, map);
  rank.barrier("all have begun");
  start_rpc(rank, options);
}

// ---- what a test of two devices and its reduced form do alike; each begins and ends the session

// Zeros and ones, which are on these devices, are added up by that worker, there on `z_to`.
void expect_sum_by_map(Rank& rank, const std::string& worker, const DevicePairs& map, rpc::MapDevice x_from,
                       rpc::MapDevice y_from, rpc::MapDevice z_to);
// A reference to a tensor of the next worker's cuda:0, which is fetched twice and is then on `here`.
void expect_fetched_by_map(Rank& rank, const DevicePairs& map, rpc::MapDevice here);
// Calls of the next worker, which adds slowly on a stream of its own: once, and twenty at the same time.
void expect_slow_add(Rank& rank, const DevicePairs& map);
void expect_many_slow_adds(Rank& rank, const DevicePairs& map);
// The same of the next worker and the one behind it: by all ranks once, and by rank 0 five at the same time.
void expect_nested_slow_add(Rank& rank, const DevicePairs& map);
void expect_many_nested_slow_adds(Rank& rank, const DevicePairs& map);
// Rank 0 has maps for workers that join later.
void expect_calls_of_newcomers(Rank& rank, const std::vector<DevicePairs>& maps);
// A value is made on a busy stream of `from` and copied by a callback to `to`, where another stream reads the copy.
void expect_callback_copies(Rank& rank, rpc::MapDevice from, rpc::MapDevice to);

}  // namespace distrun::suites
