#pragma once
// RPC of a rank, from init to shutdown: one session at a time, and as many as you like one after the other.
//
//   init_rpc({.name = "worker0", .rank = 0, .world_size = 4});
//   ...
//   shutdown();
//
// Of the rank whose work the calling thread does.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/runtime/rpc/session/backends.hpp>
#include <distrun/runtime/rpc/session/hooks.hpp>

namespace distrun::core {
class RankState;
}

namespace distrun::rpc {

struct InitOptions {
  std::string name;
  std::optional<Backend> backend;                    // not there: that of the options, else "pipe" (or --agent's)
  std::optional<int> rank;                           // not there: that of the address
  std::optional<int> world_size;                     // not there: workers come and go
  std::shared_ptr<const RpcBackendOptions> options;  // null: the backend's own
};

// Returns when all workers are known, or, where workers come and go, when all that are there know this one. Throws
//
//   Error{Failed}              "RPC is already initialized"; "RPC worker name X is not unique ..." (by every rank)
//   Error{InvalidArgument}     options that can't be
//   Error{Timeout}             with the ranks that have not come
//   base::PeerFailed           with the rank
//
// and whatever rendezvous() throws; there is no session then.
void init_rpc(const InitOptions& options, base::Location site = base::Location::here());
// The same with values whose types are known when it is called only: TypeErrors for what they can't be.
void init_rpc_dynamic(const std::string& name, const Value& backend, const Value& rank, const Value& world_size,
                      const Value& options);
// Below the session's rendezvous: with a store that is there.
void init_rpc_backend(const Backend& backend, std::shared_ptr<Store> store, const std::string& name, int rank,
                      int world_size, const RpcBackendOptions& options);

struct ShutdownOptions {
  bool graceful = true;
  double timeout = 0;  // of all of it, in seconds; 0: no limit but that of the test
  // What others still hold of this worker at its end (references) is no error.
  bool ignore_leaks = false;
};
// Graceful: returns when no call is running or on its way between any workers, and no more will be made. Not graceful:
// leaves at once. The rank's own part is done in any case, and then an error is thrown: Error{Timeout} with who is
// missing and why, base::PeerFailed. A handler (a function that is called, or a callback) that calls a graceful one
// gets Error{Failed}, and nothing has happened.
void shutdown(const ShutdownOptions& options = {}, base::Location site = base::Location::here());

bool is_initialized() noexcept;
// Throws Error{Failed}: "RPC has not been initialized. ...".
std::shared_ptr<Agent> current_agent();
WorkerInfo get_worker_info();
// Throws Error{InvalidArgument}: "name:worker1,rank:1 could not find destination name X".
WorkerInfo get_worker_info(const std::string& name);
std::vector<WorkerInfo> get_worker_infos();

// The default of calls, in seconds; 0: no limit. Each call has that which holds when it is made.
double get_rpc_timeout();
void set_rpc_timeout(double seconds);

// Keys of calls and of the agent: "agent.thread_pool_size", "agent.client_active_calls", "pipe.worker1.transport".
std::map<std::string, std::string> agent_debug_info();
// Those, and of whatever else has to do with the session: "num_owner_rrefs".
std::map<std::string, std::string> debug_info();

// At the end of a test: what its body has left open is closed, at once. False: the session is kept, and stays open.
bool end_session(core::RankState& rank) noexcept;
// Keeps the session that is open now, if there is one, until release_session().
void keep_session(core::RankState& rank);
void release_session(core::RankState& rank);

}  // namespace distrun::rpc
