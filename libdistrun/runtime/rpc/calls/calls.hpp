#pragma once
// The calls of one session in both directions: outgoing calls that wait for answers (pending_calls.hpp), and incoming
// calls that this rank runs for others (running_calls.hpp, run_call.hpp).
//
//   outgoing   packed -> sent -> answered, or failed: timed out, worker lost, closed
//   incoming   read -> queued -> running -> answered
//
// A call to this worker takes the same way, but without the agent. When a call times out, its callee is notified
// (Cancel): a queued call is not run, and a running function can check (call_context.hpp).
//
// Thread-safe.
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include <distrun/common/base/process_mark.hpp>
#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/rpc/agent.hpp>
#include <distrun/runtime/rpc/calls/autograd_service.hpp>
#include <distrun/runtime/rpc/calls/call_request.hpp>
#include <distrun/runtime/rpc/calls/call_tally.hpp>
#include <distrun/runtime/rpc/calls/handler_wait.hpp>
#include <distrun/runtime/rpc/calls/known_workers.hpp>
#include <distrun/runtime/rpc/calls/pending_calls.hpp>
#include <distrun/runtime/rpc/calls/run_call.hpp>
#include <distrun/runtime/rpc/calls/running_calls.hpp>
#include <distrun/runtime/rpc/devices/carrier.hpp>

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

class Calls final : public Receiver, public Answers, public std::enable_shared_from_this<Calls> {
 public:
  // Handles messages on the control lane. Called on a handler thread; messages of one worker are called in sequence.
  using ControlHandler = std::function<void(const WorkerInfo& from, const wire::Bytes& bytes)>;
  // Called on a handler thread when a worker is gone.
  using LossHandler = std::function<void(const WorkerInfo& peer, const Error& why)>;

  Calls(std::shared_ptr<Agent> agent, core::RankState& rank);
  ~Calls();

  // Called before start(); keyed by worker name.
  void set_device_maps(std::map<std::string, DeviceMap> maps);
  DeviceCarrier& devices() noexcept override { return *devices_; }
  void use_references(std::shared_ptr<ReferenceService> service) { references_ = std::move(service); }
  void use_autograd(std::shared_ptr<AutogradService> service) { autograd_ = std::move(service); }
  void on_control(ControlHandler handler) { control_ = std::move(handler); }
  void on_loss(LossHandler handler) { loss_ = std::move(handler); }
  // Starts the agent.
  void start();

  Agent& agent() const noexcept { return *agent_; }
  core::RankState& rank() const noexcept { return rank_; }
  // Both return null if there is no service.
  const std::shared_ptr<ReferenceService>& references() const noexcept { return references_; }
  const std::shared_ptr<AutogradService>& autograd() const noexcept { return autograd_; }
  const WorkerInfo& self() const noexcept { return agent_->worker_info(); }
  KnownWorkers& workers() noexcept { return workers_; }
  const KnownWorkers& workers() const noexcept { return workers_; }

  future::Future<Value> call(CallRequest request) {
    return future::Future<Value>::of(call(std::move(request), kResultOf<Value>));
  }
  std::shared_ptr<future::FutureState> call(CallRequest request, const ResultType& type);
  // The same for user threads: waits for room, and stores errors of delivery (is_of_delivery()) in the future.
  std::shared_ptr<future::FutureState> call_or_fail(CallRequest request, const ResultType& type);
  Value call_and_wait(CallRequest request);
  // Returns a future that completes after that time, on the timeout thread. It fails earlier with Error{Disconnected}
  // when `peer` is lost, and when the session ends. For the runtime, with quick continuations only.
  future::Future<void> rest(WorkerKey peer, base::Nanoseconds time, bool holds_shutdown);
  // Throws what Agent::send() throws.
  void send_control(WorkerKey to, wire::Bytes bytes) {
    send_bytes(to, MessageKind::Control, std::move(bytes), Urgency::Later);
  }
  void send_reference(WorkerKey to, wire::Bytes bytes, Urgency urgency) {
    send_bytes(to, MessageKind::Reference, std::move(bytes), urgency);
  }

  // The default timeout of calls; 0: no limit.
  void set_timeout(base::Nanoseconds timeout) noexcept { timeout_ns_.store(timeout.count()); }
  base::Nanoseconds timeout() const noexcept { return base::Nanoseconds(timeout_ns_.load()); }

  CallCounts counts() const;
  const CallTally& sent() const noexcept { return sent_; }
  const CallTally& received() const noexcept { return received_; }
  // Blocks until it is quiet. Returns false at the deadline.
  bool wait_quiet(base::TimePoint deadline, base::Location site);

  // Fails all waiting calls with `why`, and closes the agent; afterwards no call is sent or received. Idempotent.
  void close(const Error& why, base::Nanoseconds limit) noexcept;
  // Returns whether this is a forked process: the session belongs to its parent, and sends nothing here.
  bool is_inherited() const noexcept { return mark_.is_inherited(); }

  void add_debug_info(std::map<std::string, std::string>& info) const;

  // Receiver.
  std::unique_ptr<future::HandlerTask> receive(const WorkerInfo& from, Message message) noexcept override;
  void lose(const WorkerInfo& peer, const Error& why) noexcept override;

  // Answers.
  void reply(const CallContext& call, const Value& value) noexcept override;
  void fail(const CallContext& call, const Error& error, bool is_own) noexcept override;
  void begin_async() noexcept override { running_async_.fetch_add(1); }
  void end_async() noexcept override { running_async_.fetch_sub(1); }
  GraphCache& graphs() noexcept override { return graphs_; }
  ReferenceService* reference_service() noexcept override { return references_.get(); }
  AutogradService* autograd_service() noexcept override { return autograd_.get(); }
  HandlerWait* handler_wait() noexcept override { return &handler_wait_; }

 private:
  struct Outgoing;
  class Ending;
  struct Complete;
  using Kept = PendingCall::Kept;

  Outgoing prepare(CallRequest& request);
  // Adds the section Autograd to a complete message. `is_kept`: it always belongs to the context.
  Kept depart(const Departure& departure, bool is_kept, Message& message);
  void withdraw(const Kept& kept) noexcept;
  PendingCall begin(CallRequest request, const ResultType& type, Urgency urgency);
  void begin_in_room(Outgoing& outgoing, bool is_limited, base::Location site);
  // Assigns the call's number. Returns true if it had to wait. Throws Error{Overloaded} at its deadline. See room.cpp.
  bool wait_for_room(PendingCall& call, const std::string& worker, base::Location site);
  void write(Outgoing& outgoing, const CallHead& head, const CallRequest& request);
  Value read_reply_of(const PendingCall& call, const Message& message);
  void send(Outgoing& outgoing);
  void send_counted(Outgoing& outgoing);
  // Returns whether messages to that worker, this one, do not go through the agent.
  bool is_by_hand(WorkerId to) const noexcept;
  void pass_by_hand(Outgoing& outgoing);
  const DeviceMap& device_map_for(const WorkerInfo& worker) const;
  base::TimePoint deadline_of(const CallRequest& request, base::Nanoseconds& timeout) const;
  enum class AnswerSent : std::uint8_t {
    Yes,
    Instead,  // the caller got an error instead, or is gone
    No,
  };
  // `forks`: those in the message.
  AnswerSent send_answer(const CallContext& call, Message message, Forks forks = {},
                         DeviceCarrier::Kept kept = {}) noexcept;
  AnswerSent send_failure(const CallContext& call, const Error& error);
  void fail_answer(const CallContext& call, const Error& error) noexcept;
  // There is no memory, or no thread, for an answer, or for a message.
  void leave_unanswered(WorkerKey caller, std::uint64_t id, const Error& why) noexcept;
  void give_up(WorkerKey peer, const char* what, const Error& why) noexcept;
  void miss(const WorkerInfo& from, MessageKind kind, std::uint64_t id, const Error& why) noexcept;
  void refuse(const WorkerInfo& from, const Message& message, const std::shared_ptr<ResultSink>& result,
              const Error& why, bool is_own) noexcept;
  std::unique_ptr<future::HandlerTask> queue_call(const std::shared_ptr<CallContext>& call, Message&& message,
                                                  bool may_run_here);
  std::shared_ptr<ResultSink> begin_result(const WorkerInfo& from, const Message& message);
  std::unique_ptr<future::HandlerTask> receive_call(const WorkerInfo& from, Message&& message);
  std::unique_ptr<future::HandlerTask> begin_call(const WorkerInfo& from, Message&& message) noexcept;
  std::unique_ptr<future::HandlerTask> begin_readable(const WorkerInfo& from, Message& message,
                                                      const std::shared_ptr<ResultSink>& result);
  // Returns nullopt if the call has ended, or if the answer is late.
  std::optional<PendingCall> take_answered(const Message& answer, WorkerKey from);
  std::unique_ptr<future::HandlerTask> end_call(const WorkerInfo& from, Message&& message) noexcept;
  std::unique_ptr<future::HandlerTask> end_taken(const WorkerInfo& from, std::optional<PendingCall>& call,
                                                 Message&& message, Ending ending);
  void end_unread(const PendingCall& call, const Message& message) noexcept;
  void end_unreadable(const std::optional<PendingCall>& call, const WorkerInfo& from, const Message& message);
  void refuse_unreadable(const WorkerInfo& from, const Message& message, const std::shared_ptr<ResultSink>& result);
  void send_bytes(WorkerKey to, MessageKind kind, wire::Bytes bytes, Urgency urgency);
  std::unique_ptr<future::HandlerTask> receive_bytes(const WorkerInfo& from, Message&& message);
  void end_result(const CallContext& call, const Value& value) noexcept;
  void end_work(const CallContext& call);
  void complete(const PendingCall& call, Message message) noexcept;
  bool send_again(const PendingCall& call, const std::exception_ptr& error) noexcept;
  void fail_pending(const PendingCall& call, const Error& why) noexcept;
  void fail_all(const Error& why, std::optional<WorkerKey> peer = {}) noexcept;
  void expire(PendingCall call) noexcept;
  void begin_reading(PendingCall call);
  void end_rest(const PendingCall& rest) noexcept;
  // `shown`: the callee's state, appended to the error's text.
  void fail_expired(const PendingCall& call, const std::string& shown) noexcept;
  void cancel(const PendingCall& call) noexcept;
  // Returns the rank's own state, for messages that a thread reads while it works for something else.
  core::ThreadState own_state() const;

  const base::ProcessMark mark_;
  const std::shared_ptr<Agent> agent_;
  core::RankState& rank_;
  KnownWorkers workers_;
  const std::shared_ptr<DeviceCarrier> devices_;
  std::map<std::string, DeviceMap> device_maps_;
  std::shared_ptr<ReferenceService> references_;
  std::shared_ptr<AutogradService> autograd_;
  ControlHandler control_;
  LossHandler loss_;
  GraphCache graphs_;
  PendingCalls pending_;
  RunningCalls running_;
  std::atomic<std::int64_t> timeout_ns_;
  CallTally sent_, received_;  // without SectionTag::Repeated
  std::atomic<int> running_async_{0};
  std::atomic<int> ending_{0};  // CallCounts::ending
  HandlerWait handler_wait_;
  std::atomic<bool> is_closed_{false};
  std::mutex mutex_;
  std::set<std::pair<WorkerKey, GraphHash>> graphs_sent_;  // guarded by mutex_
};

// Text of a timeout although the answer has arrived in time.
inline constexpr const char* kUnread = "; its answer came in time, but its value was not decoded by the deadline";

// Returns whether a valid call could not be sent: its worker is gone, or too much data is in flight to it.
bool is_of_delivery(const Error& error) noexcept;
// Returns a failed future of that type.
std::shared_ptr<future::FutureState> failed_future(const ResultType& type, const Error& error, base::Location site);

// Throws Error{Failed} if the session of the calling thread's rank belongs to the parent process.
void refuse_forked(base::Location site);
// Returns find_calls(). Throws Error{Failed}: "RPC has not been initialized. ...", and what refuse_forked() throws.
std::shared_ptr<Calls> current_calls();
// Returns the calls of the session that received the call which this thread runs, else those of the thread's rank. That
// session may be over while the rank has another one, in which the same ids denote other workers. Returns null if there
// are none, or if the session belongs to the parent process.
std::shared_ptr<Calls> find_calls() noexcept;
// Returns null if there are none.
std::shared_ptr<Calls> find_calls(core::RankState& rank) noexcept;
// Called by the session.
void use_calls(core::RankState& rank, std::shared_ptr<Calls> calls) noexcept;

}  // namespace distrun::rpc
