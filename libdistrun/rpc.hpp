#pragma once
// RPC between the ranks of a test, for plugins that are linked with the runtime (distrun_add_plugin(NAME RUNTIME ...)):
//
//   #include <distrun/rpc.hpp>
//   #include <distrun/test.hpp>
//
//   int add_twice(int a, int b) { return a + 2 * b; }
//   DISTRUN_RPC(add_twice)
//
//   DISTRUN_TEST(Rpc, calls_its_neighbour) {
//     distrun::init_rpc(rank);
//     const int neighbour = (rank.rank() + 1) % rank.world_size();
//     DISTRUN_EXPECT(distrun::rpc_sync(neighbour, add_twice, 1, 2) == 5);
//     distrun::rpc::shutdown();
//   }
#ifdef DISTRUN_PLUGIN_WITHOUT_RUNTIME
#error "<distrun/rpc.hpp> needs libdistrun.so: write distrun_add_plugin(NAME RUNTIME ...)"
#endif
#include <distrun/plugin/sdk/context.hpp>
#include <distrun/runtime/dist_autograd/debug_info.hpp>
#include <distrun/runtime/future/collect.hpp>
#include <distrun/runtime/future/future.hpp>
#include <distrun/runtime/profiler/profile.hpp>
#include <distrun/runtime/profiler/span.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/calls/wait_all_scope.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/rpc/functions/register_class.hpp>
#include <distrun/runtime/rpc/graph/builder.hpp>
#include <distrun/runtime/rpc/graph/trace.hpp>
#include <distrun/runtime/rpc/session/meeting.hpp>
#include <distrun/runtime/rpc/session/session.hpp>
#include <distrun/runtime/rref/rref.hpp>

namespace distrun {

using rpc::rpc_async;
using rpc::rpc_sync;
using rpc::to;
using rref::remote;

// Begins RPC for this rank under the name of its rank, "worker0", and returns when all ranks of the test have begun.
// The agent is that of --agent, or the one that the options belong to (rpc::FaultyOptions). The workers meet in the
// store of the test, unless the options name another. Without rpc::shutdown() the session ends at once when the test
// ends. Throws as rpc::init_rpc().
inline void init_rpc(const Rank& rank, std::shared_ptr<const rpc::RpcBackendOptions> options = {},
                     base::Location site = base::Location::here()) {
  rpc::InitOptions init;
  init.name = rank.worker_name();
  const rpc::Backend usual = rpc::find_backend(std::string(rank.agent()));
  if (options == nullptr || usual.takes(*options)) init.backend = usual;
  init.rank = rank.rank();
  init.world_size = rank.world_size();
  init.options = std::move(options);
  rpc::init_rpc(init, site);
}

}  // namespace distrun
