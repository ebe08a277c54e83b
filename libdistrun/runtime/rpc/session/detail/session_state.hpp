#pragma once
// The RPC state of a rank: its current session, and what outlives it.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <distrun/common/base/process_mark.hpp>
#include <distrun/runtime/rpc/session/detail/elastic_group.hpp>
#include <distrun/runtime/rpc/session/detail/meetings.hpp>
#include <distrun/runtime/rpc/session/detail/member.hpp>
#include <distrun/runtime/rpc/session/detail/termination.hpp>
#include <distrun/runtime/rpc/session/hooks.hpp>
#include <distrun/runtime/rpc/session/session_part.hpp>
#include <distrun/runtime/store/rendezvous.hpp>

namespace distrun::rpc {

// Shared by the threads that use it; callbacks hold it weakly.
struct Session : std::enable_shared_from_this<Session> {
  Session(core::RankState& rank_, std::shared_ptr<Agent> agent_, const RpcBackendOptions& options);

  // Creates the calls, registers them for messages and for the rank's threads, and starts the agent.
  void start();
  // Ends the session; pending calls fail with `why`.
  void close(const Error& why, base::Nanoseconds limit) noexcept;

  void receive(const WorkerInfo& from, const wire::Bytes& bytes);
  void lose(const WorkerInfo& peer, const Error& why) noexcept;

  core::RankState& rank;
  const std::shared_ptr<Agent> agent;
  const base::Nanoseconds timeout;                     // initial timeout of calls
  const std::optional<int> worker_threads;             // none: the options have no such number
  const std::map<std::string, DeviceMap> device_maps;  // by the worker's name
  std::vector<Member> members;                         // of a group of fixed size, this worker included
  std::shared_ptr<Calls> calls;                        // null: a hook has replaced the start of the agent
  std::vector<std::shared_ptr<SessionPart>> parts;     // of higher modules; empty without calls
  std::shared_ptr<ElasticGroup> elastic;               // null: the group has a fixed size
  Meetings meetings;
  Termination termination;
  std::atomic<bool> is_ending{false};

 private:
  std::optional<core::PeerDiedCall> on_death_;
};

class SessionState {
 public:
  // Returns null in a process that was forked after the session began.
  std::shared_ptr<Session> find() const;
  // Throws Error{Failed}: "RPC has not been initialized. ...", and what refuse_if_inherited() throws.
  std::shared_ptr<Session> get() const;
  void set(std::shared_ptr<Session> session);
  bool is_inherited() const noexcept { return opened_.is_inherited(); }
  // Throws Error{Failed} if the session belongs to the parent process.
  void refuse_if_inherited(base::Location site) const;

  SessionHooks hooks() const;
  SessionHooks exchange_hooks(SessionHooks hooks);

  // The store of an address stays open until the test ends: ranks that meet there again use the same one, and the rank
  // that serves it may end its session before the others.
  std::optional<stores::Rendezvous> find_rendezvous(const std::string& address) const;
  void keep(const std::string& address, const stores::Rendezvous& rendezvous);
  // The rounds of the rank at one store (detail/membership.hpp).
  struct Rounds {
    int next = 0;    // the first that the rank has not entered
    int oldest = 0;  // the first with keys that may still be in the store
  };
  // Returns those at the store with this key.
  Rounds rounds(const std::string& store) const;
  void set_rounds(const std::string& store, Rounds rounds);

  // Called at the end of a test: releases what is left.
  void forget();

  // Keeps the currently open session beyond its test, until release().
  void keep();
  void release();
  // Returns whether the open session is the kept one.
  bool is_kept() const;

 private:
  friend class Starting;

  base::ProcessMark opened_{base::ProcessMark::Unset{}};
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  bool is_starting_ = false;
  std::shared_ptr<Session> session_;
  std::weak_ptr<Session> kept_;
  SessionHooks hooks_;
  std::map<std::string, stores::Rendezvous> rendezvous_;
  std::map<std::string, Rounds> rounds_;
};

// While it exists, no other thread of the rank can begin a session.
class Starting {
 public:
  // Throws Error{Failed}: "RPC is already initialized ...", also if the parent process is initialized.
  explicit Starting(SessionState& state);
  ~Starting();
  Starting(const Starting&) = delete;
  Starting& operator=(const Starting&) = delete;

 private:
  SessionState& state_;
};

SessionState& session_state_of(core::RankState& rank);
// Returns the state of the calling thread's rank.
SessionState& session_state();

}  // namespace distrun::rpc
