#pragma once
// The calls of one session: receives messages from the agent, and hands each to the part that it is for:
//
//   answers                     CallSender, CallCompletions   outgoing calls (call_sender.hpp, call_completions.hpp)
//   calls, cancellations        CallServer                    incoming calls (call_server.hpp)
//   references, devices         their services                read at once
//   control messages, losses    the session                   on a handler's thread
//
//   created -> started -> closed
//
// What this worker sends to itself takes the same way, without the agent (pass_to_self()).
//
// Owned by the session, and by the tasks that handlers run for it. Thread-safe, except what is called before start().
// Has no lock itself, and no part calls another one while it holds a lock; only KnownWorkers holds two.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <distrun/runtime/rpc/calls/call_sender.hpp>
#include <distrun/runtime/rpc/calls/call_server.hpp>
#include <distrun/runtime/rpc/calls/calls_shared.hpp>

namespace distrun::core {
class RankState;
}

namespace distrun::rpc {

// Counts that determine when a session can end: calls to and from others since it began. Calls that are repeated until
// they are answered (SectionTag::Repeated) are not in sent and received, since they may be lost or duplicated.
struct CallCounts {
  std::uint64_t sent = 0;      // calls sent to other workers
  std::uint64_t received = 0;  // calls received from other workers
  int waiting = 0;             // unanswered calls of this rank, except those that hold no shutdown
  int running = 0;             // calls, local ones included, that are queued or running, or have incomplete futures
  int running_async = 0;       // of these, those with incomplete futures
  int handlers = 0;            // tasks of its handlers that run user code: queued, running or blocked
  int ending = 0;              // answers and timeouts that are being delivered
  bool is_quiet() const noexcept { return waiting == 0 && running == 0 && handlers == 0 && ending == 0; }
};

class Calls final : public Receiver, public CallsOwner, public std::enable_shared_from_this<Calls> {
 public:
  // Handles messages on the control lane. Called on a handler thread; messages of one worker are called in sequence.
  using ControlHandler = std::function<void(const WorkerInfo& from, const wire::Bytes& bytes)>;
  // Called on a handler thread when a worker is gone.
  using LossHandler = std::function<void(const WorkerInfo& peer, const Error& why)>;

  Calls(std::shared_ptr<Agent> agent, core::RankState& rank);

  // These are called before start(). Device maps are keyed by worker name.
  void set_device_maps(std::map<std::string, DeviceMap> maps);
  void use_references(std::shared_ptr<ReferenceService> service) { shared_.references = std::move(service); }
  void use_autograd(std::shared_ptr<AutogradService> service) { shared_.autograd = std::move(service); }
  void set_handlers(ControlHandler control, LossHandler loss);
  // Starts the agent.
  void start();

  Agent& agent() const noexcept { return *shared_.agent; }
  core::RankState& rank() const noexcept { return shared_.rank; }
  DeviceCarrier& devices() const noexcept { return *shared_.devices; }
  // Both return null if there is no service.
  const std::shared_ptr<ReferenceService>& references() const noexcept { return shared_.references; }
  const std::shared_ptr<AutogradService>& autograd() const noexcept { return shared_.autograd; }
  const WorkerInfo& self() const noexcept { return shared_.self(); }
  KnownWorkers& workers() noexcept { return shared_.workers; }
  const KnownWorkers& workers() const noexcept { return shared_.workers; }
  CallSender& sender() noexcept { return sender_; }
  CallServer& server() noexcept { return server_; }

  // Sends a message of the kind Control or Reference. Throws what Agent::send() throws.
  void send(WorkerKey to, MessageKind kind, wire::Bytes bytes, Urgency urgency);

  CallCounts counts() const;
  // Blocks until it is quiet. Returns false at the deadline.
  bool wait_quiet(base::TimePoint deadline, base::Location site);

  // Fails all waiting calls with `why`, and closes the agent; afterwards no call is sent or received. Idempotent.
  void close(const Error& why, base::Nanoseconds limit) noexcept;
  // Returns whether this is a forked process: the session belongs to its parent, and sends nothing here.
  bool is_inherited() const noexcept { return shared_.mark.is_inherited(); }

  void add_debug_info(std::map<std::string, std::string>& info) const;

  // Receiver.
  std::unique_ptr<future::HandlerTask> receive(const WorkerInfo& from, Message message) noexcept override;
  void lose(const WorkerInfo& peer, const Error& why) noexcept override;

  // CallsOwner.
  void pass_to_self(Message&& message) override;
  void fail_own(std::uint64_t id, const Error& why) noexcept override;
  std::shared_ptr<Calls> share() override { return shared_from_this(); }

 private:
  void miss(const WorkerInfo& from, MessageKind kind, std::uint64_t id, const Error& why) noexcept;
  void receive_bytes(const WorkerInfo& from, Message&& message);

  CallsShared shared_;
  ControlHandler control_;
  LossHandler loss_;
  CallServer server_;
  CallSender sender_;  // destroyed first: its timeout thread cancels calls of this worker to itself at the server
};

// Throws Error{Failed} if the session of the calling thread's rank belongs to the parent process.
void refuse_forked(base::Location site);
// Returns find_calls(). Throws Error{Failed}: "RPC has not been initialized. ...", and what refuse_forked() throws.
std::shared_ptr<Calls> current_calls();
// Returns the calls of the session that received the call which this thread runs, else those of the thread's rank. That
// session may be over while the rank has another one, in which the same ids denote other workers. Returns null without
// a session, or if it belongs to the parent process.
std::shared_ptr<Calls> find_calls() noexcept;
// Returns null without a session.
std::shared_ptr<Calls> find_calls(core::RankState& rank) noexcept;
// Called by the session when it begins. Throws std::bad_alloc, and changes nothing then.
void use_calls(core::RankState& rank, const std::shared_ptr<Calls>& calls);
// Called by the session when it is over, also if use_calls() was not called or has thrown.
void forget_calls(core::RankState& rank) noexcept;

}  // namespace distrun::rpc
