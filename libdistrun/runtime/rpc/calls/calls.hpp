#pragma once
// The calls of one session, in both directions: those that this rank waits for (pending_calls.hpp), and those that it
// runs for others (running_calls.hpp, run_call.hpp).
//
//   outgoing   packed -> sent -> answered, or failed: timed out, the worker lost, closed
//   incoming   read -> queued -> running -> answered
//
// A call to oneself takes the same way, without the agent. A call that times out is told to whoever runs it (Cancel),
// so that what is still queued is not begun, and what runs can ask (call_context.hpp).
//
// Any thread.
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
#include <distrun/runtime/rpc/calls/pending_calls.hpp>
#include <distrun/runtime/rpc/calls/run_call.hpp>
#include <distrun/runtime/rpc/calls/running_calls.hpp>
#include <distrun/runtime/rpc/devices/carrier.hpp>

namespace distrun::core {
class RankState;
}

namespace distrun::rpc {

// What the ends of a session are counted by: calls to and from others, since the session began. Those that are made
// again until they are answered (SectionTag::Repeated) are not in sent and received, since they may be lost or doubled.
struct CallCounts {
  std::uint64_t sent = 0;      // calls that were sent to other workers
  std::uint64_t received = 0;  // calls that came from other workers
  int waiting = 0;             // of this rank's, that are not answered yet, but for those that hold no shutdown
  int running = 0;             // of others' and its own, that are queued or run, or whose futures are not done
  int running_async = 0;       // of these, those whose futures are not done
  int handlers = 0;            // tasks of its handlers that run users' code: queued, running or blocked
  int ending = 0;              // answers and timeouts that are being handed over to who waits for them
  bool is_quiet() const noexcept { return waiting == 0 && running == 0 && handlers == 0 && ending == 0; }
};

class Calls final : public Receiver, public Answers, public std::enable_shared_from_this<Calls> {
 public:
  // What comes on the control lane; called on a handler's thread, one message of each worker after the other.
  using ControlHandler = std::function<void(const WorkerInfo& from, const wire::Bytes& bytes)>;
  // A worker is gone; on a handler's thread.
  using LossHandler = std::function<void(const WorkerInfo& peer, const Error& why)>;

  Calls(std::shared_ptr<Agent> agent, core::RankState& rank);
  ~Calls();

  // Before start(). Of workers by their names.
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
  // Null: there are none.
  const std::shared_ptr<ReferenceService>& references() const noexcept { return references_; }
  const std::shared_ptr<AutogradService>& autograd() const noexcept { return autograd_; }
  const WorkerInfo& self() const noexcept { return agent_->worker_info(); }
  // Throws Error{InvalidArgument}: "... could not find destination ..."; Error{Disconnected} for a worker that is known
  // to have died, and for a WorkerInfo of an incarnation that has left.
  WorkerInfo resolve(const Destination& to) const;
  // Returns nothing if that worker has left or is not known.
  std::optional<WorkerInfo> find_worker(WorkerKey key) const;
  // By the session, when workers have come or gone: what resolve() finds, from when this returns.
  void refresh_workers();
  // Called by the session before refresh_workers(), when a worker has died that the agent does not list any more. Calls
  // to its name fail with `why` until another worker has the name.
  void note_death(const WorkerInfo& worker, const Error& why);

  future::Future<Value> call(CallRequest request) {
    return future::Future<Value>::of(call(std::move(request), kResultOf<Value>));
  }
  std::shared_ptr<future::FutureState> call(CallRequest request, const ResultType& type);
  // The same for users' threads, which wait for room, and look for errors in the future: what is_of_delivery() says is
  // one of it, and not thrown.
  std::shared_ptr<future::FutureState> call_or_fail(CallRequest request, const ResultType& type);
  Value call_and_wait(CallRequest request);
  // Returns a future that is done after that time, on the thread of timeouts, or fails before: with Error{Disconnected}
  // when `peer` is lost, and when the session ends. For the runtime's own work, in continuations that are quick.
  future::Future<void> rest(WorkerKey peer, base::Nanoseconds time, bool holds_shutdown);
  // Throws as Agent::send().
  void send_control(WorkerKey to, wire::Bytes bytes) {
    send_bytes(to, MessageKind::Control, std::move(bytes), Urgency::Later);
  }
  void send_reference(WorkerKey to, wire::Bytes bytes, Urgency urgency) {
    send_bytes(to, MessageKind::Reference, std::move(bytes), urgency);
  }

  // The default of calls; 0: no limit.
  void set_timeout(base::Nanoseconds timeout) noexcept { timeout_ns_.store(timeout.count()); }
  base::Nanoseconds timeout() const noexcept { return base::Nanoseconds(timeout_ns_.load()); }

  CallCounts counts() const;
  const CallTally& sent() const noexcept { return sent_; }
  const CallTally& received() const noexcept { return received_; }
  // Until it is quiet, or the deadline: false.
  bool wait_quiet(base::TimePoint deadline, base::Location site);

  // Every call that waits fails with `why`; none is sent or received afterwards. The agent is closed. Idempotent.
  void close(const Error& why, base::Nanoseconds limit) noexcept;
  // In a forked process: the session is its parent's, and sends nothing here.
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
  struct Workers;
  struct Outgoing;
  class Ending;
  using Kept = PendingCall::Kept;

  std::shared_ptr<const Workers> workers() const;
  void throw_if_dead(const std::string& name, base::Location site) const;
  std::string name_of_worker(WorkerKey key) const;
  Outgoing prepare(CallRequest& request);
  // Puts the section Autograd into a message that is written. `is_kept`: it belongs to the context in any case.
  Kept depart(const Departure& departure, bool is_kept, Message& message);
  void withdraw(const Kept& kept) noexcept;
  PendingCall begin(CallRequest request, const ResultType& type, Urgency urgency);
  void begin_in_room(Outgoing& outgoing, bool is_limited, base::Location site);
  // Gives the call its number. True: it had to wait. Throws Error{Overloaded} at its deadline. See room.cpp.
  bool wait_for_room(PendingCall& call, const std::string& worker, base::Location site);
  void write(Outgoing& outgoing, const CallHead& head, const CallRequest& request);
  Value read_reply_of(const PendingCall& call, const Message& message);
  void send(Outgoing& outgoing);
  void send_counted(Outgoing& outgoing);
  bool has_left(const WorkerInfo& worker) const;
  void send_to_self(Outgoing& outgoing);
  const DeviceMap& device_map_for(const WorkerInfo& worker) const;
  base::TimePoint deadline_of(const CallRequest& request, base::Nanoseconds& timeout) const;
  // `forks` are what travels in it.
  bool send_answer(const CallContext& call, Message message, Forks forks = {}, DeviceCarrier::Kept kept = {}) noexcept;
  std::shared_ptr<ResultSink> begin_result(const WorkerInfo& from, const Message& message);
  std::unique_ptr<future::HandlerTask> receive_call(const WorkerInfo& from, Message&& message);
  std::unique_ptr<future::HandlerTask> begin_call(const WorkerInfo& from, Message&& message);
  // Returns nothing if the call has ended, or if the answer has come too late.
  std::optional<PendingCall> take_answered(const Message& answer, WorkerKey from);
  std::unique_ptr<future::HandlerTask> end_call(const WorkerInfo& from, Message&& message);
  void end_unreadable(const std::optional<PendingCall>& call, const WorkerInfo& from, const Message& message);
  void refuse_unreadable(const WorkerInfo& from, const Message& message);
  void send_bytes(WorkerKey to, MessageKind kind, wire::Bytes bytes, Urgency urgency);
  std::unique_ptr<future::HandlerTask> receive_bytes(const WorkerInfo& from, Message&& message);
  void end_result(const CallContext& call, const Value& value) noexcept;
  void end_work(const CallContext& call);
  void complete(const PendingCall& call, Message message) noexcept;
  bool send_again(const PendingCall& call, const std::exception_ptr& error) noexcept;
  void fail_pending(const PendingCall& call, const Error& why) noexcept;
  void expire(PendingCall call) noexcept;
  void begin_reading(PendingCall call);
  void end_rest(const PendingCall& rest) noexcept;
  // `shown`: what became of it, for the end of the error's text.
  void fail_expired(const PendingCall& call, const std::string& shown) noexcept;
  void cancel(const PendingCall& call) noexcept;
  // Whatever a thread works under, what it reads for the session is the rank's own.
  core::ThreadState own_state() const;

  const base::ProcessMark mark_;
  const std::shared_ptr<Agent> agent_;
  core::RankState& rank_;
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
  CallTally sent_, received_;  // but for SectionTag::Repeated
  std::atomic<int> running_async_{0};
  std::atomic<int> ending_{0};  // CallCounts::ending
  HandlerWait handler_wait_;
  std::atomic<bool> is_closed_{false};
  std::mutex refresh_mutex_;  // held while workers_ are made anew; before mutex_
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::shared_ptr<const Workers> workers_;
  std::set<std::pair<WorkerKey, GraphHash>> graphs_sent_;
  std::map<std::string, Error> dead_;  // by the worker's name, why
};

// What a timeout shows of a call whose answer has come in time.
inline constexpr const char* kUnread = "; its answer came in time, but its value was not decoded by the deadline";

// Returns whether a call could not be sent though it is right: its worker is gone, or too much is on its way to it.
bool is_of_delivery(const Error& error) noexcept;
// A future of that type that has failed so.
std::shared_ptr<future::FutureState> failed_future(const ResultType& type, const Error& error, base::Location site);

// Throws Error{Failed} if the session of the calling thread's rank is that of the process from which this was forked.
void refuse_forked(base::Location site);
// As find_calls(). Throws Error{Failed}: "RPC has not been initialized. ...", and as refuse_forked().
std::shared_ptr<Calls> current_calls();
// Of a thread that runs a call for somebody else those of the session that the call came in, which may be over while
// the rank has begun another one, in which the same ids are others'; else of the calling thread's rank. Null: none, or
// the process was forked from the one whose session it is.
std::shared_ptr<Calls> find_calls() noexcept;
// Null: none.
std::shared_ptr<Calls> find_calls(core::RankState& rank) noexcept;
// By the session.
void use_calls(core::RankState& rank, std::shared_ptr<Calls> calls) noexcept;

}  // namespace distrun::rpc
