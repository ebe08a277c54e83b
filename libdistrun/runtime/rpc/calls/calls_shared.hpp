#pragma once
// The common parts of both halves of a session's calls: the agent, the workers, their devices, and the services of
// other modules. The halves do not know each other: what this worker sends to itself goes through their owner.
//
// Owned by Calls, which fills it before the agent starts; afterwards its fields are constant, and what they refer to is
// thread-safe. Has no lock. Throws std::bad_alloc, and what the functions say.
#include <map>
#include <memory>
#include <string>

#include <distrun/common/base/process_mark.hpp>
#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/rpc/agent.hpp>
#include <distrun/runtime/rpc/calls/autograd_service.hpp>
#include <distrun/runtime/rpc/calls/known_workers.hpp>
#include <distrun/runtime/rpc/calls/pending_calls.hpp>
#include <distrun/runtime/rpc/devices/carrier.hpp>

namespace distrun::core {
class RankState;
}

namespace distrun::rpc {

class Calls;  // calls.hpp

// The interface by which the halves reach Calls, which owns them.
class CallsOwner {
 public:
  // Hands a call, an answer or a Cancel of this worker to itself over, if the agent does not carry these. Throws if
  // there is no memory or thread for what is left to do.
  virtual void pass_to_self(Message&& message) = 0;
  // Fails a call of this worker to itself that cannot be answered.
  virtual void fail_own(std::uint64_t id, const Error& why) noexcept = 0;
  // Returns a share of it, which keeps both halves.
  virtual std::shared_ptr<Calls> share() = 0;

 protected:
  ~CallsOwner() = default;
};

struct CallsShared {
  CallsShared(CallsOwner& owner_, std::shared_ptr<Agent> agent_, core::RankState& rank_);

  const WorkerInfo& self() const noexcept { return agent->worker_info(); }
  // Returns the rank's own state, for messages that a thread reads while it works for something else.
  core::ThreadState own_state() const;
  // Returns whether messages to that worker, this one, do not go through the agent.
  bool is_by_hand(WorkerId to) const noexcept { return to == self().id() && !agent->carries_own(); }
  const DeviceMap& device_map_for(const WorkerInfo& worker) const;

  // Adds the section Autograd to a complete message. `is_kept`: it always belongs to the context. Throws what
  // AutogradService::depart() throws.
  PendingCall::Kept depart(const Departure& departure, bool is_kept, Message& message);
  void withdraw(const PendingCall::Kept& kept) noexcept;
  // Ends the connection, because `what`, "a call of" or "a message of" the peer, can't be taken or answered: both
  // workers lose each other.
  void give_up(WorkerKey peer, const char* what, const Error& why) noexcept;

  const base::ProcessMark mark;  // of the process that has the session
  CallsOwner& owner;
  const std::shared_ptr<Agent> agent;
  core::RankState& rank;
  KnownWorkers workers;
  const std::shared_ptr<DeviceCarrier> devices;
  std::map<std::string, DeviceMap> device_maps;  // by worker name
  std::shared_ptr<ReferenceService> references;  // null: none
  std::shared_ptr<AutogradService> autograd;     // null: none
};

}  // namespace distrun::rpc
