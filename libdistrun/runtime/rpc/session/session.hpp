#pragma once
// RPC of a rank, from init to shutdown. A rank has at most one session at a time, and any number in sequence.
//
//   init_rpc({.name = "worker0", .rank = 0, .world_size = 4});
//   ...
//   shutdown();
//
// All functions act on the rank of the calling thread.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/runtime/rpc/session/backends.hpp>

namespace distrun::core {
class RankState;
}

namespace distrun::rpc {

// Options of init_rpc().
struct InitOptions {
  std::string name;                // unique among the workers: 1 to 127 letters, digits, '-', '_' and ':'
  std::optional<Backend> backend;  // none: inferred from the options, else "pipe" (or --agent)
  std::optional<int> rank;         // none: taken from the address
  std::optional<int> world_size;   // none: workers join and leave at any time
  std::shared_ptr<const RpcBackendOptions> options;  // null: the backend's defaults
};

// Returns when all workers are known or, in an elastic group, when all present workers know this one. Throws
//
//   Error{Failed}              "RPC is already initialized"; "RPC worker name X is not unique ..." (by every rank)
//   Error{InvalidArgument}     invalid options
//   Error{Timeout}             names the ranks that have not arrived
//   base::PeerFailed           names the rank
//
// and what rendezvous() throws. After an error there is no session, and the workers can meet in another attempt,
// whether all of them have noticed the failed one or not.
void init_rpc(const InitOptions& options, base::Location site = base::Location::here());
// Is init_rpc() without the rendezvous, for a store that is already open.
void init_rpc_backend(const Backend& backend, std::shared_ptr<Store> store, const std::string& name, int rank,
                      int world_size, const RpcBackendOptions& options);

// Options of shutdown().
struct ShutdownOptions {
  bool graceful = true;  // wait for the other workers
  double timeout = 0;    // limit of the whole shutdown, in seconds; 0: only that of the test
  // References that other workers still hold to this worker's values are not an error.
  bool ignore_leaks = false;
};
// Graceful: blocks until no call is running or in flight between any workers, and none can be made. Not graceful:
// leaves at once. Ends this rank's session in either case, then throws errors: Error{Timeout} with the missing workers
// and the reason, base::PeerFailed. A graceful shutdown from a handler (a called function or a callback) throws
// Error{Failed} and has no effect.
void shutdown(const ShutdownOptions& options = {}, base::Location site = base::Location::here());

// Returns whether the rank has a session.
bool is_initialized() noexcept;
// Throws Error{Failed}: "RPC has not been initialized. ...".
std::shared_ptr<Agent> current_agent();
// Returns this worker, or the one of that name. Throws Error{Failed} without RPC, Error{InvalidArgument} for an unknown
// name: "name:worker1,rank:1 could not find destination name X".
WorkerInfo get_worker_info();
WorkerInfo get_worker_info(const std::string& name);
// Returns all workers, this one included. Throws Error{Failed} without RPC.
std::vector<WorkerInfo> get_worker_infos();

// Returns the default timeout of calls, in seconds; 0: no limit. A call uses the value at the time it is made. Throws
// Error{Failed} without RPC.
double get_rpc_timeout();
// Sets it for later calls. Throws Error{InvalidArgument} for a negative value.
void set_rpc_timeout(double seconds);

// Returns counters of calls and agent: "agent.thread_pool_size", "agent.client_active_calls", "pipe.worker1.transport".
std::map<std::string, std::string> agent_debug_info();
// Returns these and the counters of the session's other parts: "num_owner_rrefs".
std::map<std::string, std::string> debug_info();

// Called at the end of a test: closes the session that its body has left open, without waiting. Returns false if the
// session is kept (keep_session()); it stays open then.
bool end_session(core::RankState& rank) noexcept;
// Keeps the currently open session, if any, until release_session().
void keep_session(core::RankState& rank);
// Closes the kept session.
void release_session(core::RankState& rank);

}  // namespace distrun::rpc
