#pragma once
// Opens RPC around a test, as ported tests do: rank r is "worker<r>" of a fixed group of all ranks, which meet by a
// file of this test. After the body follows a shutdown that waits for all ranks.
//
//   class RpcTest : public RpcAgentTest {};          around each test of the suite
//   with_rpc(rank, {}, [] { return 5; })             around a part of a body; returns its value
//
// A body that has failed is not followed by a shutdown, since other ranks would wait for it in vain. The end of the
// test closes what it has left open.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <distrun/rpc.hpp>
#include <distrun/test.hpp>

#include "faults.hpp"

namespace distrun::suites {

// Returns where the ranks of this test meet on one host, for RPC and for process groups: "file:///..."; one file per
// `ending`.
std::string rpc_address(const Rank& rank, const std::string& ending = "");
// Sets the options with which the ranks of this test meet: that address, or a store if they run on several hosts.
void meet(const Rank& rank, rpc::RpcBackendOptions& options, const std::string& ending = "");
// Returns new options each time, which the caller may change: those of meet(), and the library's defaults.
std::shared_ptr<rpc::PipeOptions> rpc_options(const Rank& rank, const std::string& ending = "");
// Returns the agent that the run asks for.
rpc::Backend agent_backend(const Rank& rank);

// Uses rpc_options() if `options` is null.
void start_rpc(Rank& rank, std::shared_ptr<const rpc::RpcBackendOptions> options = {});
// Starts RPC in a group that workers join one by one.
void join_rpc(Rank& rank);
// Opens the process group of ported tests, at the same address.
void open_group(Rank& rank);
void group_barrier();

class RpcAgentTest : public Fixture {
 public:
  void set_up(Rank& rank) override;
  void tear_down(Rank& rank) override;

 protected:
  // Override it in a fixture that needs other options.
  virtual std::shared_ptr<rpc::PipeOptions> make_options(const Rank& rank) const { return rpc_options(rank); }
};

struct RpcUse {
  bool setup_rpc = true;
  bool clean_shutdown = true;  // the shutdown waits for all ranks
  // Wraps the run's agent in the agent "faulty": the messages that fail at first, and the delays in seconds. Messages
  // not listed behave as its default options say.
  bool is_faulty = false;
  std::optional<std::vector<std::string>> faulty_messages = {};
  std::optional<std::map<std::string, double>> messages_to_delay = {};
};
// Returns null for the run's agent with its own options. Throws Error{InvalidArgument} for invalid faults.
std::shared_ptr<const PortedFaults> faults_of(const Rank& rank, const RpcUse& use);
void start_rpc(Rank& rank, const RpcUse& use);

template <class Body>
std::invoke_result_t<Body&> with_rpc(Rank& rank, const RpcUse& use, Body body) {
  faults_of(rank, use);  // refuses invalid faults even without RPC
  if (use.setup_rpc) start_rpc(rank, use);
  if constexpr (std::is_void_v<std::invoke_result_t<Body&>>) {
    body();
    if (use.setup_rpc) rpc::shutdown({.graceful = use.clean_shutdown});
  } else {
    auto value = body();
    if (use.setup_rpc) rpc::shutdown({.graceful = use.clean_shutdown});
    return value;
  }
}

// Returns "worker2" on rank 1: the worker that most tests call. `step` is the distance in the ring of ranks.
std::string next_worker(const Rank& rank, int step = 1);
int next_rank(const Rank& rank, int step = 1);

}  // namespace distrun::suites
