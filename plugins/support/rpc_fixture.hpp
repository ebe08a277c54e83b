#pragma once
// RPC around a test, as ported tests have it: rank r is "worker<r>" of a fixed group of all ranks, which meet by a file
// of this very test; after the body comes a shutdown that waits for all.
//
//   class RpcTest : public RpcAgentTest {};          around each test of the suite
//   with_rpc(rank, {}, [] { return 5; })             around a part of a body; hands the value through
//
// A body that has failed is not followed by a shutdown: the others would wait for one that does not come. What it has
// left open is closed at the end of the test.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <distrun/rpc.hpp>
#include <distrun/test.hpp>

namespace distrun::suites {

// Where the ranks of this test meet, for RPC and for process groups: "file:///...". With another ending it is another
// file.
std::string rpc_address(const Rank& rank, const std::string& ending = "");
// New ones each time, which the caller may change: of that address, and else as the library has them.
std::shared_ptr<rpc::PipeOptions> rpc_options(const Rank& rank, const std::string& ending = "");
// The agent that the run asks for.
rpc::Backend agent_backend(const Rank& rank);

// Without options: rpc_options().
void start_rpc(Rank& rank, std::shared_ptr<const rpc::RpcBackendOptions> options = {});
// The same in a group that workers join one by one.
void join_rpc(Rank& rank);
// The process group of ported tests, at the same address.
void open_group(Rank& rank);
void group_barrier();

class RpcAgentTest : public Fixture {
 public:
  void set_up(Rank& rank) override;
  void tear_down(Rank& rank) override;

 protected:
  // Of the session; a suite that wants others has a fixture that says so.
  virtual std::shared_ptr<rpc::PipeOptions> make_options(const Rank& rank) const { return rpc_options(rank); }
};

struct RpcUse {
  bool setup_rpc = true;
  bool clean_shutdown = true;  // it waits for all
  // With the agent "faulty" before that of the run: which messages fail at first, and which are delayed, by how many
  // seconds. Those that are not there are as its usual options have them.
  bool is_faulty = false;
  std::optional<std::vector<std::string>> faulty_messages = {};
  std::optional<std::map<std::string, double>> messages_to_delay = {};
};
// Null: the agent of the run, with its own options. Throws Error{InvalidArgument} for faults that cannot be.
std::shared_ptr<const rpc::FaultyOptions> faults_of(const Rank& rank, const RpcUse& use);
void start_rpc(Rank& rank, const RpcUse& use);

template <class Body>
std::invoke_result_t<Body&> with_rpc(Rank& rank, const RpcUse& use, Body body) {
  faults_of(rank, use);  // refuses those that cannot be, without RPC too
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

// "worker2" on rank 1: whom most tests call. `step` is how far it is around the ring of ranks.
std::string next_worker(const Rank& rank, int step = 1);
int next_rank(const Rank& rank, int step = 1);

}  // namespace distrun::suites
