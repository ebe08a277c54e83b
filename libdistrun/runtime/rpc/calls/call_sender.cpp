#include <distrun/runtime/rpc/calls/call_sender.hpp>

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/core/inline_function.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/rpc/calls/call_codec.hpp>
#include <distrun/runtime/rpc/calls/error_codec.hpp>
#include <distrun/runtime/rpc/calls/names.hpp>
#include <distrun/runtime/rpc/calls/run_call.hpp>
#include <distrun/runtime/rpc/calls/task.hpp>
#include <distrun/runtime/rpc/calls/traced_call.hpp>
#include <distrun/runtime/rpc/devices/message_step.hpp>
#include <distrun/runtime/rpc/functions/operators.hpp>
#include <distrun/runtime/rpc/profile/profiled_call.hpp>
#include <distrun/runtime/rpc/profile/served_profile.hpp>
#include <distrun/runtime/rpc/session/options.hpp>

namespace distrun::rpc {

// A call that is ready to send.
struct CallSender::Outgoing {
  WorkerInfo to;
  PendingCall pending;
  Message message;
  Urgency urgency = Urgency::Later;
  Forks forks{};                 // in the message
  DeviceCarrier::Kept memory{};  // device memory that the receiver reads
};

namespace {

constexpr const char* kCalls = "makes a call";  // in core::refuse_in_inline_function()

// A resolved name.
struct Named {
  CalleeKind kind = CalleeKind::Function;
  const char* lasting = "";
};

// Programs repeat calls, so each thread caches the last one, unless its name is long. Needs no destructor: glibc ends a
// process that has no memory to register one for a thread.
struct LastNamed {
  bool is(const std::string& other) const {
    return version == functions_version() && rank == &core::rank_state() && other == std::string_view(name, size);
  }

  char name[64] = {};
  std::size_t size = 0;
  std::uint64_t version = 0;  // functions_version()
  core::RankState* rank = nullptr;
  Named named;
};
static_assert(std::is_trivially_destructible_v<LastNamed>);
constinit thread_local LastNamed last_named;

Named named_by(const std::string& name) {
  LastNamed& last = last_named;
  if (last.is(name)) return last.named;
  const std::uint64_t version = functions_version();
  const bool is_operator_only = find_function(name) == nullptr && is_operator(name);
  const Named named{is_operator_only ? CalleeKind::Operator : CalleeKind::Function, lasting_name(name)};
  if (name.size() > sizeof last.name) return named;
  last.size = name.copy(last.name, sizeof last.name);
  last.version = version;
  last.rank = &core::rank_state();
  last.named = named;
  return named;
}

// `lasting`: set to the lasting name.
CallHead head_of(const CallRequest& request, const char*& lasting) {
  CallHead head;
  head.runs_late = request.runs_late;
  if (const auto* const graph = std::get_if<std::shared_ptr<const GraphFunction>>(&request.target.callee)) {
    head.kind = CalleeKind::Graph;
    head.name = (*graph)->name();
    head.graph_hash = (*graph)->hash();
    lasting = lasting_name(head.name);
    return head;
  }
  const std::string& name = std::get<std::string>(request.target.callee);
  const Named named = named_by(name);
  head.name = name;
  head.kind = named.kind;
  lasting = named.lasting;
  if (request.shown != nullptr) head.shown = lasting = request.shown;
  return head;
}

// Returns the call that this thread runs for a caller; null: none.
const CallContext* outer_call() noexcept { return static_cast<const CallContext*>(core::thread_state().call.get()); }

Section trace_of(const CallContext& outer) {
  const std::string trace = outer.trace();
  const auto* const bytes = reinterpret_cast<const std::byte*>(trace.data());
  return {SectionTag::TraceParent, {bytes, bytes + trace.size()}};
}

}  // namespace

CallSender::CallSender(CallsShared& shared)
    : shared_(shared),
      timeout_ns_(base::nanoseconds_of(kDefaultRpcTimeoutSeconds).count()),
      completions_(shared, [this](const PendingCall& call, const std::exception_ptr& error) {
        return send_again(call, error);
      }) {}

// Returns the earliest of: the request's deadline, else the session's; and that of the function that makes the call.
base::TimePoint CallSender::deadline_of(const CallRequest& request, base::Nanoseconds& timeout) const {
  timeout = request.to.timeout().value_or(this->timeout());
  const CallContext* const outer = outer_call();
  const bool is_bounded = outer != nullptr && outer->deadline != core::kForever && !request.runs_late;
  if (timeout.count() == 0 && !is_bounded) return core::kForever;
  const base::TimePoint now = base::system_clock().now();
  const base::TimePoint own = timeout.count() == 0 ? core::kForever : base::deadline_after(timeout, now);
  if (!is_bounded || own <= outer->deadline) return own;
  timeout = std::max<base::Nanoseconds>(outer->deadline - now, base::Nanoseconds(0));
  return outer->deadline;
}

// Callees of users may make calls themselves, which belong to the context; operators do not.
void CallSender::write(Outgoing& outgoing, const CallHead& head, const CallRequest& request) {
  Message& message = outgoing.message;
  const Departing departing;
  {
    Packing packing(shared_.references.get(), outgoing.to.key());
    write_call(message, head, request.arguments);
    outgoing.forks = packing.take();
  }
  if (!outgoing.forks.is_empty()) message.sections.push_back(outgoing.forks.section());
  const Departure departure{core::thread_state().autograd_context,
                            departing.tensors(),
                            message.tensors,
                            outgoing.to.key(),
                            false,
                            outgoing.pending.name,
                            request.to.site()};
  outgoing.pending.kept = shared_.depart(departure, head.kind != CalleeKind::Operator, message);
  try {
    const MessageStep step("the arguments of", outgoing.pending.name, "to", outgoing.to.name(), request.to.site());
    outgoing.memory = shared_.devices->pack(
        message, request.devices ? *request.devices : shared_.device_map_for(outgoing.to), outgoing.to);
  } catch (...) {
    shared_.withdraw(outgoing.pending.kept);
    throw;
  }
}

// The time of encoding the arguments does not count towards the timeout.
CallSender::Outgoing CallSender::prepare(CallRequest& request) {
  Outgoing outgoing{shared_.workers.resolve(request.to), {}, {}};
  PendingCall& pending = outgoing.pending;
  CallHead head = head_of(request, pending.name);
  pending.profiled = ProfiledCall::begin(head, request.mode, shared_.self(), outgoing.to, request.sections);
  const auto* const graph = std::get_if<std::shared_ptr<const GraphFunction>>(&request.target.callee);
  if (graph != nullptr) {
    const std::lock_guard lock(mutex_);
    if (graphs_sent_.emplace(outgoing.to.key(), head.graph_hash).second) head.graph = *graph;
  }
  outgoing.message.kind = MessageKind::Call;
  outgoing.message.sections = request.sections;
  write(outgoing, head, request);
  if (const auto* const outer = outer_call()) outgoing.message.sections.push_back(trace_of(*outer));
  pending.bytes = bytes_of(outgoing.message);
  pending.peer = outgoing.to.key();
  pending.holds_shutdown = request.holds_shutdown;
  pending.deadline = deadline_of(request, pending.timeout);
  if (graph != nullptr && head.graph == nullptr) pending.again = std::make_shared<CallRequest>(request);
  if (pending.deadline != core::kForever && !request.runs_late) {
    outgoing.message.left = pending.timeout;
  }
  if (pending.deadline != core::kForever) outgoing.message.kept_until = pending.deadline;
  return outgoing;
}

namespace {

// Describes the wait for the call, and how to drive its progress.
future::FutureInfo info_of(const PendingCall& call, const Agent& agent, bool is_to_self, base::Location site,
                           std::vector<device::Device> devices) {
  future::FutureInfo info(site);
  info.devices = std::move(devices);
  info.kind = board::WaitKind::RpcReply;
  info.name = call.name;
  info.id = call.id;
  info.peers.add(call.peer.id);
  if (!is_to_self) info.progress = agent.progress();
  return info;
}

}  // namespace

void CallSender::send(Outgoing& outgoing) {
  outgoing.message.id = outgoing.pending.id;
  try {
    if (outgoing.to.id() == shared_.self().id()) copy_tensors(outgoing.message);
    if (!shared_.is_by_hand(outgoing.to.id())) return send_counted(outgoing);
    outgoing.forks.sent();
    shared_.owner.pass_to_self(std::move(outgoing.message));
  } catch (...) {
    if (!shared_.workers.has_left(outgoing.to)) throw;
    throw Error(ErrorKind::Disconnected, outgoing.to.name() + " has left");
  }
}

// Counts the call before others can receive it.
void CallSender::send_counted(Outgoing& outgoing) {
  const bool is_counted = !is_repeated(outgoing.message);
  if (is_counted) sent_.add(outgoing.to.id());
  try {
    shared_.agent->send(outgoing.to.key(), std::move(outgoing.message), outgoing.urgency);
  } catch (...) {
    if (is_counted) sent_.take_back(outgoing.to.id());
    throw;
  }
  outgoing.forks.sent();
  outgoing.memory.sent();
}

// Assigns the call's number.
void CallSender::begin_in_room(Outgoing& outgoing, bool is_limited, base::Location site) {
  PendingCall& call = outgoing.pending;
  outgoing.message.is_limited = is_limited;
  if (!is_limited) {
    PendingCalls::Load load{call.peer, call.bytes};
    call.id = pending_.next_id(load);
    return;
  }
  if (!wait_for_room(call, outgoing.to.name(), site) || !outgoing.message.left) return;
  outgoing.message.left = std::max(call.deadline - base::system_clock().now(), base::Nanoseconds(0));
}

PendingCall CallSender::begin(CallRequest request, const ResultType& type, Urgency urgency) {
  const base::Location site = request.to.site();
  const bool is_limited = request.waits_for_room;
  refuse_forked(shared_.mark, site);
  if (is_closed_.load()) throw Error(ErrorKind::Failed, "RPC is no longer running on this node", site);
  Outgoing outgoing = prepare(request);
  PendingCall& pending = outgoing.pending;
  pending.type = &type;
  outgoing.urgency = urgency;
  try {
    begin_in_room(outgoing, is_limited, site);
    pending.future = type.make(
        info_of(pending, *shared_.agent, pending.peer.id == shared_.self().id(), site, shared_.devices->devices()));
    pending_.add(pending);
    send(outgoing);
  } catch (...) {
    pending_.drop(pending.id);
    shared_.withdraw(pending.kept);
    throw;
  }
  completions_.cancel_if_expired(pending);
  if (is_closed_.load()) {
    if (const auto lost = pending_.take(pending.id, pending.peer)) {
      completions_.fail_taken(*lost, Error(ErrorKind::Disconnected, "RPC was shut down here", site));
    }
  }
  return std::move(pending);
}

// The future may never be waited for, so the timeout thread watches the call.
std::shared_ptr<future::FutureState> CallSender::call(CallRequest request, const ResultType& type) {
  const base::Location site = request.to.site();
  const std::int64_t began = core::trace_now();
  PendingCall pending = begin(std::move(request), type, Urgency::Later);
  const TracedCall traced(pending, site, began);
  pending_.watch_timeouts(pending.deadline);
  return std::move(pending.future);
}

std::shared_ptr<future::FutureState> CallSender::call_or_fail(CallRequest request, const ResultType& type) {
  const base::Location site = request.to.site();
  core::refuse_in_inline_function(kCalls, site);
  request.waits_for_room = true;
  try {
    return call(std::move(request), type);
  } catch (const Error& error) {
    if (!is_of_delivery(error)) throw;
    return failed_future(type, error, site);
  }
}

// The wait ends by itself at the call's deadline, so the timeout thread is not needed.
Value CallSender::call_and_wait(CallRequest request) {
  const base::Location site = request.to.site();
  core::refuse_in_inline_function(kCalls, site);
  request.mode = CallMode::Sync;
  request.waits_for_room = true;
  const std::int64_t began = core::trace_now();
  const PendingCall pending = begin(std::move(request), kResultOf<Value>, Urgency::Answer);
  const TracedCall traced(pending, site, began);
  const auto future = future::Future<Value>::of(pending.future);
  try {
    pending.future->wait(pending.deadline, site);
  } catch (const Error& over) {
    if (over.kind() != ErrorKind::Timeout) throw;
    if (auto expired = pending_.take_late(pending.id, pending.peer)) completions_.expire(std::move(*expired));
  }
  return future.wait({}, site);
}

future::Future<void> CallSender::rest(WorkerKey peer, base::Nanoseconds time, bool holds_shutdown) {
  refuse_forked(shared_.mark, base::Location::here());
  PendingCall rest;
  rest.peer = peer;
  rest.name = "rest";
  rest.waits = PendingCall::Waits::ForTime;
  rest.holds_shutdown = holds_shutdown;
  rest.deadline = base::deadline_after(time);
  rest.type = &kResultOf<void>;
  rest.future = rest.type->make(future::FutureInfo(base::Location()));
  PendingCalls::Load load{.peer = peer, .is_call = false};
  rest.id = pending_.next_id(load);
  pending_.add(rest);
  pending_.watch_timeouts(rest.deadline);
  if (is_closed_.load()) {
    const Error why(ErrorKind::Disconnected, "RPC was shut down here");
    if (const auto lost = pending_.take_late(rest.id, peer)) completions_.fail_taken(*lost, why);
  }
  return future::Future<void>::of(std::move(rest.future));
}

// Sends the call again with its graph function, which the callee no longer has. Copies the arguments: if the call
// expires before the agent has it, its caller may change them.
bool CallSender::send_again(const PendingCall& call, const std::exception_ptr& error) noexcept {
  PendingCall::Kept kept;
  try {
    if (error_of(error).text().find(kUnknownGraph) == std::string::npos) return false;
    shared_.withdraw(call.kept);
    Outgoing outgoing{shared_.workers.resolve(call.again->to), call, {}};
    CallHead head = head_of(*call.again, outgoing.pending.name);
    head.graph = std::get<std::shared_ptr<const GraphFunction>>(call.again->target.callee);
    outgoing.message.kind = MessageKind::Call;
    outgoing.message.id = call.id;
    outgoing.message.sections = call.again->sections;
    core::ThreadState state = core::thread_state();
    state.autograd_context = call.kept.context;
    const core::ThreadStateGuard guard(std::move(state));
    write(outgoing, head, *call.again);
    kept = outgoing.pending.kept;
    outgoing.pending.again = nullptr;
    copy_tensors(outgoing.message);
    if (!pending_.add(outgoing.pending)) return false;
    pending_.watch_timeouts(call.deadline);
    send_counted(outgoing);
    completions_.cancel_if_expired(outgoing.pending);
  } catch (...) {
    pending_.drop(call.id);
    shared_.withdraw(kept);
    completions_.fail_taken(call, error_of(std::current_exception()));
  }
  return true;
}

void CallSender::lose(WorkerKey peer, const Error& why) noexcept {
  completions_.fail_all(why, peer);
  const std::lock_guard lock(mutex_);
  std::erase_if(graphs_sent_, [&](const auto& each) { return each.first == peer; });
}

bool CallSender::close() noexcept {
  if (is_closed_.exchange(true)) return false;
  pending_.stop();
  return true;
}

bool is_of_delivery(const Error& error) noexcept {
  return error.kind() == ErrorKind::Disconnected || error.kind() == ErrorKind::Overloaded;
}

std::shared_ptr<future::FutureState> failed_future(const ResultType& type, const Error& error, base::Location site) {
  future::FutureInfo info(site);
  info.kind = board::WaitKind::RpcReply;
  auto state = type.make(std::move(info));
  state->begin(site);
  state->end(std::make_exception_ptr(error));
  return state;
}

}  // namespace distrun::rpc
