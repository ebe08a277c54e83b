// The outgoing half of Calls: from what somebody asks for to the answer that he gets.
#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/rpc/calls/calls.hpp>
#include <distrun/runtime/rpc/calls/error_codec.hpp>
#include <distrun/runtime/rpc/calls/names.hpp>
#include <distrun/runtime/rpc/calls/recorded.hpp>
#include <distrun/runtime/rpc/calls/task.hpp>
#include <distrun/runtime/rpc/functions/operators.hpp>

namespace distrun::rpc {

// A call that is ready to be sent.
struct Calls::Outgoing {
  WorkerInfo to;
  PendingCall pending;
  Message message;
  Urgency urgency = Urgency::Later;
  Forks forks{};  // that travel in it
};

namespace {

// What a name stands for. Programs call the same again and again: each thread remembers the last.
struct Named {
  std::string name;
  std::uint64_t version = 0;  // of the functions
  core::RankState* rank = nullptr;
  CalleeKind kind = CalleeKind::Function;
  const char* lasting = "";
};
thread_local Named last_named;

const Named& named_by(const std::string& name) {
  Named& last = last_named;
  if (last.version == functions_version() && last.rank == &core::rank_state() && last.name == name) return last;
  last.version = functions_version();
  last.rank = &core::rank_state();
  last.name = name;
  last.kind = find_function(name) == nullptr && is_operator(name) ? CalleeKind::Operator : CalleeKind::Function;
  last.lasting = lasting_name(name);
  return last;
}

// `lasting`: its name.
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
  const Named& named = named_by(std::get<std::string>(request.target.callee));
  head.name = named.name;
  head.kind = named.kind;
  lasting = named.lasting;
  return head;
}

// That this thread runs for somebody else; null: none.
const CallContext* outer_call() noexcept { return static_cast<const CallContext*>(core::thread_state().call.get()); }

Section trace_of(const CallContext& outer) {
  const std::string trace = outer.trace();
  const auto* const bytes = reinterpret_cast<const std::byte*>(trace.data());
  return {SectionTag::TraceParent, {bytes, bytes + trace.size()}};
}

}  // namespace

// The first of: what the caller says, the session's; and no more than the function has that makes the call.
base::TimePoint Calls::deadline_of(const CallRequest& request, base::Nanoseconds& timeout) const {
  timeout = request.to.timeout().value_or(this->timeout());
  const CallContext* const outer = outer_call();
  const bool is_bounded = outer != nullptr && outer->deadline != core::kForever && !request.runs_late;
  if (timeout.count() == 0 && !is_bounded) return core::kForever;
  const base::TimePoint now = base::system_clock().now();
  const base::TimePoint own = timeout.count() == 0 ? core::kForever : now + timeout;
  if (!is_bounded || own <= outer->deadline) return own;
  timeout = std::max<base::Nanoseconds>(outer->deadline - now, base::Nanoseconds(0));
  return outer->deadline;
}

const DeviceMap& Calls::device_map_for(const WorkerInfo& worker) const {
  static const DeviceMap none;
  const auto found = device_maps_.find(worker.name());
  return found == device_maps_.end() ? none : found->second;
}

Calls::Kept Calls::depart(const Departure& departure, bool is_kept, Message& message) {
  if (autograd_ == nullptr) return {};
  if (departure.tensors.empty() && (departure.context == kNoContext || !is_kept)) return {};
  std::optional<Departed> departed = autograd_->depart(departure);
  if (!departed) return {};
  message.sections.push_back(std::move(departed->section));
  return {departed->context, departed->message};
}

void Calls::withdraw(const Kept& kept) noexcept {
  if (kept.message >= 0) autograd_->withdraw(kept.context, kept.message);
}

// Callees of a user's may make calls of their own, which belong to the context; operators do not.
void Calls::write(Outgoing& outgoing, const CallHead& head, const CallRequest& request) {
  Message& message = outgoing.message;
  const Departing departing;
  {
    Packing packing(references_.get(), outgoing.to.id());
    write_call(message, head, request.arguments);
    outgoing.forks = packing.take();
  }
  if (!outgoing.forks.is_empty()) message.sections.push_back(outgoing.forks.section());
  const Departure departure{core::thread_state().autograd_context,
                            departing.tensors(),
                            message.tensors,
                            outgoing.to.id(),
                            false,
                            outgoing.pending.name,
                            request.to.site()};
  outgoing.pending.kept = depart(departure, head.kind != CalleeKind::Operator, message);
  stage_out(message, request.devices ? *request.devices : device_map_for(outgoing.to), outgoing.to.name());
}

// What encoders do to pack the arguments counts for nobody's time.
Calls::Outgoing Calls::prepare(CallRequest& request) {
  Outgoing outgoing{resolve(request.to), {}, {}};
  PendingCall& pending = outgoing.pending;
  CallHead head = head_of(request, pending.name);
  const auto* const graph = std::get_if<std::shared_ptr<const GraphFunction>>(&request.target.callee);
  if (graph != nullptr) {
    const std::lock_guard lock(mutex_);
    if (graphs_sent_.emplace(outgoing.to.id(), head.graph_hash).second) head.graph = *graph;
  }
  outgoing.message.kind = MessageKind::Call;
  outgoing.message.sections = request.sections;
  write(outgoing, head, request);
  if (const auto* const outer = outer_call()) outgoing.message.sections.push_back(trace_of(*outer));
  pending.peer = outgoing.to.id();
  pending.deadline = deadline_of(request, pending.timeout);
  if (graph != nullptr && head.graph == nullptr) pending.again = std::make_shared<CallRequest>(request);
  if (pending.deadline != core::kForever && !request.runs_late) {
    outgoing.message.left = pending.timeout;
  }
  return outgoing;
}

namespace {

// As a wait for it shows itself, and who helps it on.
future::FutureInfo info_of(const PendingCall& call, const Agent& agent, bool is_to_self, base::Location site,
                           const DeviceMap& devices) {
  future::FutureInfo info(site);
  for (const auto& [here, there] : devices) {
    if (!here.is_cpu()) info.devices.push_back(here);
  }
  info.kind = board::WaitKind::RpcReply;
  info.name = call.name;
  info.id = call.id;
  if (call.peer < static_cast<WorkerId>(info.peers.size())) info.peers.set(static_cast<std::size_t>(call.peer));
  if (!is_to_self) info.progress = agent.progress();
  return info;
}

}  // namespace

void Calls::send(Outgoing& outgoing) {
  outgoing.message.id = outgoing.pending.id;
  try {
    if (outgoing.to.id() == self().id()) return send_to_self(outgoing);
    sent_.fetch_add(1, std::memory_order_relaxed);
    agent_->send(outgoing.to.id(), std::move(outgoing.message), outgoing.urgency);
    outgoing.forks.sent();
  } catch (...) {
    if (outgoing.to.id() != self().id()) sent_.fetch_sub(1, std::memory_order_relaxed);
    pending_.take(outgoing.pending.id, outgoing.pending.peer);
    withdraw(outgoing.pending.kept);
    throw;
  }
}

void Calls::send_to_self(Outgoing& outgoing) {
  copy_tensors(outgoing.message);
  const core::ThreadStateGuard guard(own_state());
  outgoing.forks.sent();
  auto task = begin_call(self(), std::move(outgoing.message));
  if (task != nullptr) future::handler_pool_of(rank_).post(std::move(task));
}

PendingCall Calls::begin(CallRequest request, const ResultType& type, Urgency urgency) {
  const base::Location site = request.to.site();
  if (is_closed_.load()) throw Error(ErrorKind::Failed, "RPC is no longer running on this node", site);
  Outgoing outgoing = prepare(request);
  PendingCall& pending = outgoing.pending;
  pending.type = &type;
  pending.id = pending_.next_id();
  pending.future = type.make(info_of(pending, *agent_, pending.peer == self().id(), site, device_map_for(outgoing.to)));
  pending_.add(pending);
  outgoing.urgency = urgency;
  send(outgoing);
  if (is_closed_.load()) {
    if (const auto lost = pending_.take(pending.id, pending.peer)) {
      fail_pending(*lost, Error(ErrorKind::Disconnected, "RPC was shut down here", site));
    }
  }
  return std::move(pending);
}

// Whoever gets the future may never wait for it: it fails all the same when its time is over.
std::shared_ptr<future::FutureState> Calls::call(CallRequest request, const ResultType& type) {
  profiler::Span span;
  const base::Location site = request.to.site();
  const CallMode mode = request.mode;
  const bool is_recorded = span.is_recorded();
  PendingCall pending = begin(std::move(request), is_recorded ? kResultOf<Value> : type, Urgency::Later);
  pending_.watch_timeouts(pending.deadline);
  if (!is_recorded) return std::move(pending.future);
  span.set_name(event_name(mode, pending.name, self().name(), name_of_worker(pending.peer)));
  return recorded(future::Future<Value>::of(std::move(pending.future)), type, std::move(span), site);
}

// Its own deadline ends the wait: nobody else has to look.
Value Calls::call_and_wait(CallRequest request) {
  profiler::Span span;
  const base::Location site = request.to.site();
  const PendingCall pending = begin(std::move(request), kResultOf<Value>, Urgency::Answer);
  if (span.is_recorded()) {
    span.set_name(event_name(CallMode::Sync, pending.name, self().name(), name_of_worker(pending.peer)));
  }
  const auto future = future::Future<Value>::of(pending.future);
  try {
    pending.future->wait(pending.deadline, site);
  } catch (const Error& over) {
    if (over.kind() != ErrorKind::Timeout) throw;
    if (auto expired = pending_.take(pending.id, pending.peer)) expire(std::move(*expired));
  }
  return future.wait({}, site);
}

std::unique_ptr<future::HandlerTask> Calls::end_call(const WorkerInfo& from, Message&& message) {
  if (message.kind == MessageKind::Reply && (!is_plain(message) || is_staged(message))) {
    std::optional<PendingCall> call = pending_.take(message.id, from.id());
    if (!call) {  // nobody waits for it any more
      drop_references(references_.get(), from, message);
      return nullptr;
    }
    return task_of([self = shared_from_this(), call = std::move(*call), message = std::move(message)]() mutable {
      self->complete(call, std::move(message));
    });
  }
  if (const std::optional<PendingCall> call = pending_.take(message.id, from.id())) complete(*call, std::move(message));
  return nullptr;
}

Value Calls::read_reply_of(const PendingCall& call, const Message& message) {
  const bool has_forks = has_references(message);
  if (!has_forks && autograd_section_of(message) == nullptr) return read_reply(message);
  const WorkerInfo from(name_of_worker(call.peer), call.peer);
  std::optional<Unpacking> unpacking;
  if (has_forks) unpacking.emplace(references_.get(), from, message);
  const std::unique_ptr<Arrival> arrival = arrival_of(autograd_.get(), from, message, device_map_for(from));
  const Arriving arriving(arrival.get());
  return read_reply(message);
}

void Calls::complete(const PendingCall& call, Message message) noexcept {
  std::exception_ptr error;
  Value value;
  try {
    stage_in(message);
    if (message.kind == MessageKind::Reply) {
      value = read_reply_of(call, message);
    } else {
      wire::ByteReader bytes(wire::view_of(message.payload));
      error = read_error(bytes);
    }
  } catch (...) {
    error = std::current_exception();
  }
  if (error != nullptr && call.again != nullptr && send_again(call, error)) return;
  if (!call.future->try_begin()) return;
  if (error != nullptr) return call.future->end(std::move(error));
  call.type->store(*call.future, std::move(value));
}

// The callee has not kept the graph function that it was sent once.
bool Calls::send_again(const PendingCall& call, const std::exception_ptr& error) noexcept {
  try {
    if (error_of(error).text().find(kUnknownGraph) == std::string::npos) return false;
    withdraw(call.kept);
    Outgoing outgoing{resolve(call.again->to), call, {}};
    CallHead head = head_of(*call.again, outgoing.pending.name);
    head.graph = std::get<std::shared_ptr<const GraphFunction>>(call.again->target.callee);
    outgoing.message.kind = MessageKind::Call;
    outgoing.message.id = call.id;
    outgoing.message.sections = call.again->sections;
    core::ThreadState state = core::thread_state();
    state.autograd_context = call.kept.context;
    const core::ThreadStateGuard guard(std::move(state));
    write(outgoing, head, *call.again);
    outgoing.pending.again = nullptr;
    if (!pending_.add(outgoing.pending)) return false;
    pending_.watch_timeouts(call.deadline);
    agent_->send(call.peer, std::move(outgoing.message), Urgency::Later);
    outgoing.forks.sent();
    sent_.fetch_add(1, std::memory_order_relaxed);
  } catch (...) {
    pending_.take(call.id, call.peer);
    fail_pending(call, error_of(std::current_exception()));
  }
  return true;
}

}  // namespace distrun::rpc
