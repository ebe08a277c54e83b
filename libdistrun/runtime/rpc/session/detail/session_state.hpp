#pragma once
// What a rank has of RPC: its session, if there is one, and what outlives it.
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

// Shared by those who work with it at the moment; what it receives holds it weakly.
struct Session : std::enable_shared_from_this<Session> {
  Session(core::RankState& rank_, std::shared_ptr<Agent> agent_, const RpcBackendOptions& options);

  // Makes the calls, which hear of what comes from now on, and of which the rank's threads know; starts the agent.
  void start();
  // Nothing is left of it. `why` is what calls fail with that still wait.
  void close(const Error& why, base::Nanoseconds limit) noexcept;

  void receive(const WorkerInfo& from, const wire::Bytes& bytes);
  void lose(const WorkerInfo& peer, const Error& why);

  core::RankState& rank;
  const std::shared_ptr<Agent> agent;
  const base::Nanoseconds timeout;                     // of calls, at first
  const std::optional<int> worker_threads;             // nothing: its options have none
  const std::map<std::string, DeviceMap> device_maps;  // by the worker's name
  std::vector<Member> members;                         // of a group of a fixed size, this one too
  std::shared_ptr<Calls> calls;                        // null: a hook has started the agent, its own way
  std::vector<std::shared_ptr<SessionPart>> parts;     // of other rooms; none without calls
  std::shared_ptr<ElasticGroup> elastic;               // null: the group's size is fixed
  Meetings meetings;
  Termination termination;
  std::atomic<bool> is_ending{false};

 private:
  std::optional<core::PeerDiedCall> on_death_;
};

class SessionState {
 public:
  // Null in a process that was forked from the one whose session it is.
  std::shared_ptr<Session> find() const;
  // Throws Error{Failed}: "RPC has not been initialized. ...", and as refuse_if_inherited().
  std::shared_ptr<Session> get() const;
  void set(std::shared_ptr<Session> session);
  bool is_inherited() const noexcept { return opened_.is_inherited(); }
  // Throws Error{Failed} if the session is that of the process from which this one was forked.
  void refuse_if_inherited(base::Location site) const;

  SessionHooks hooks() const;
  SessionHooks exchange_hooks(SessionHooks hooks);

  // The store of an address stays until the test ends: ranks that meet there again find the same one, and the rank that
  // serves it may end its session before others.
  std::optional<stores::Rendezvous> find_rendezvous(const std::string& address) const;
  void keep(const std::string& address, const stores::Rendezvous& rendezvous);
  // How many rounds the rank has begun before at the store that is known by that.
  int begin_round(const std::string& store);

  // The test is over: what is left of it goes.
  void forget();

  // The session that is open now outlives its test, until release().
  void keep();
  void release();
  // Whether the open session is the kept one.
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
  std::map<std::string, int> rounds_;
};

// While it lives, no other thread of the rank begins a session.
class Starting {
 public:
  // Throws Error{Failed} "RPC is already initialized ...", also where it is in the process that this was forked from.
  explicit Starting(SessionState& state);
  ~Starting();
  Starting(const Starting&) = delete;
  Starting& operator=(const Starting&) = delete;

 private:
  SessionState& state_;
};

SessionState& session_state_of(core::RankState& rank);
// Of the calling thread's rank.
SessionState& session_state();

}  // namespace distrun::rpc
