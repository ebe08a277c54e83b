#include <distrun/runtime/rpc/calls/calls.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/common/board/describe.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/profiler/node.hpp>
#include <distrun/runtime/rpc/calls/profiled_call.hpp>
#include <distrun/runtime/rpc/calls/task.hpp>
#include <distrun/runtime/rpc/session/options.hpp>

namespace distrun::rpc {
namespace {

constexpr std::size_t kWaitsTold = 3;  // waits of the other worker in the text of a timeout

// Returns what the worker does for the call, and besides: "; rank 1 runs it, and shows: barrier \"x\" for ranks 0, 2".
std::string shown_by(core::RankState& rank, const WorkerInfo& self, const PendingCall& call) {
  core::RankLine* const line = rank.line();
  std::optional<board::Shown> shown = line != nullptr ? line->look_at(call.peer.id) : std::nullopt;
  if (!shown) return "";
  std::vector<board::ShownWait>& waits = shown->waits;
  const std::size_t runs = std::erase_if(waits, [&](const board::ShownWait& each) {
    return each.kind == board::WaitKind::Handler && each.id == call.id && each.peers == std::vector<int>{self.id()};
  });
  if (call.peer.id == self.id()) {  // the caller's own wait is among them
    std::erase_if(waits, [&](const board::ShownWait& each) {
      return each.kind == board::WaitKind::RpcReply && each.id == call.id;
    });
  }
  std::string text = "; rank " + std::to_string(call.peer.id) + (runs != 0 ? " runs it" : " does not run it");
  for (std::size_t i = 0; i < std::min(waits.size(), kWaitsTold); ++i) {
    text += (i == 0 ? ", and shows: " : ", ") + board::describe(waits[i]);
  }
  return text;
}

std::shared_ptr<DeviceCarrier> make_carrier(const std::shared_ptr<Agent>& agent, core::RankState& rank) {
  const auto tell = [agent](WorkerKey to, wire::Bytes bytes) {
    Message message;
    message.kind = MessageKind::Devices;
    message.payload = std::move(bytes);
    agent->send(to, std::move(message), Urgency::Later);
  };
  const auto post = [&rank](std::function<void()> body) {
    future::handler_pool_of(rank).post_control(task_of(std::move(body)));
  };
  return DeviceCarrier::make({agent->worker_info(), agent->is_by_hand(), post, tell});
}

std::string milliseconds(base::Nanoseconds time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

}  // namespace

Calls::Calls(std::shared_ptr<Agent> agent, core::RankState& rank)
    : agent_(std::move(agent)),
      rank_(rank),
      workers_(agent_),
      devices_(make_carrier(agent_, rank)),
      pending_([this](PendingCall call) { expire(std::move(call)); }),
      timeout_ns_(base::nanoseconds_of(kDefaultRpcTimeoutSeconds).count()) {}

Calls::~Calls() = default;

core::ThreadState Calls::own_state() const {
  core::ThreadState state;
  state.rank = &rank_;
  return state;
}

void Calls::set_device_maps(std::map<std::string, DeviceMap> maps) {
  device_maps_ = std::move(maps);
  for (const auto& [worker, map] : device_maps_) {
    for (const auto& [here, there] : map) devices_->add_devices({here});
  }
}

void Calls::start() { agent_->start(*this); }

CallCounts Calls::counts() const {
  CallCounts counts;
  counts.sent = sent_.all();
  counts.received = received_.all();
  counts.waiting = pending_.count();
  counts.ending = ending_.load() + pending_.expiring();  // after what leaves `waiting`, before what that leads to
  counts.running = running_.count();
  counts.running_async = running_async_.load();
  counts.handlers = future::handler_pool_of(rank_).statistics().open;
  return counts;
}

bool Calls::wait_quiet(base::TimePoint deadline, base::Location site) {
  board::WaitInfo info;
  info.kind = board::WaitKind::RpcReply;
  info.name = "its calls to end";
  info.site = site;
  return core::poll_until(info, deadline, std::chrono::milliseconds(5), [this] { return counts().is_quiet(); });
}

void Calls::close(const Error& why, base::Nanoseconds limit) noexcept {
  if (is_inherited() || is_closed_.exchange(true)) return;
  pending_.stop();
  devices_->finish(base::deadline_after(limit));
  agent_->close(limit);
  fail_all(why);
}

void Calls::add_debug_info(std::map<std::string, std::string>& info) const {
  const CallCounts now = counts();
  const auto handlers = future::handler_pool_of(rank_).statistics();
  info["agent.client_active_calls"] = std::to_string(now.waiting);
  info["agent.server_active_calls"] = std::to_string(now.running);
  info["agent.server_active_async_calls"] = std::to_string(now.running_async);
  info["agent.num_idle_threads"] = std::to_string(handlers.threads - handlers.running - handlers.blocked);
  info["agent.threads"] = std::to_string(handlers.threads);
  info["agent.calls_sent"] = std::to_string(now.sent);
  info["agent.calls_received"] = std::to_string(now.received);
  handler_wait_.add_debug_info(info);
  devices_->add_debug_info(info);
  for (const auto& [key, value] : agent_->debug_info()) info[key] = value;
}

void Calls::lose(const WorkerInfo& peer, const Error& why) noexcept {
  running_.cancel_all(peer.key());
  fail_all(why, peer.key());
  devices_->lose(peer);
  if (references_ != nullptr) references_->lose(peer, why);
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(graphs_sent_, [&](const auto& each) { return each.first == peer.key(); });
  }
  if (!loss_) return;
  try {
    future::handler_pool_of(rank_).post_control(
        task_of([self = shared_from_this(), peer, why] { self->loss_(peer, why); }));
  } catch (const std::exception&) {  // no memory or thread: without the news others would wait for the peer in vain
    loss_(peer, why);
  }
}

void Calls::fail_all(const Error& why, std::optional<WorkerKey> peer) noexcept {
  std::size_t place = 0;
  while (const auto call = pending_.take_next(place, peer)) fail_pending(*call, why);
}

void Calls::fail_pending(const PendingCall& call, const Error& why) noexcept {
  if (call.profiled != nullptr) call.profiled->end(nullptr);
  if (!call.future->try_begin()) return;
  call.future->end(base::error_if_memory([&] {
    Error own = why;
    own.while_doing("call \"" + std::string(call.name) + "\" of " + workers_.name_of(call.peer));
    return own;
  }));
}

// Cancels at the agent first, which may still be sending the tensors: after the timeout, the caller may modify them.
void Calls::expire(PendingCall call) noexcept {
  if (call.waits == PendingCall::Waits::ForDecoder) return fail_expired(call, kUnread);
  if (call.waits == PendingCall::Waits::ForTime) return end_rest(call);
  if (call.profiled != nullptr) call.profiled->end(nullptr);
  std::string shown;
  base::if_memory([&] { shown = shown_by(rank_, self(), call); });
  cancel(call);
  fail_expired(call, shown);
}

void Calls::fail_expired(const PendingCall& call, const std::string& shown) noexcept {
  if (!call.future->try_begin()) return;
  call.future->end(base::error_if_memory([&] {
    std::string text = "RPCErr:1:RPC ran for more than set timeout (" + milliseconds(call.timeout) +
                       " ms) and will now be marked with an error: \"" + call.name + "\" of " +
                       workers_.name_of(call.peer) + ", message " + std::to_string(call.id) + shown;
    return Error(ErrorKind::Timeout, "RuntimeError", std::move(text), call.future->info().made_at);
  }));
}

future::Future<void> Calls::rest(WorkerKey peer, base::Nanoseconds time, bool holds_shutdown) {
  refuse_forked(mark_, base::Location::here());
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
    if (const auto lost = pending_.take_late(rest.id, peer)) fail_pending(*lost, why);
  }
  return future::Future<void>::of(std::move(rest.future));
}

void Calls::end_rest(const PendingCall& rest) noexcept {
  if (rest.future->try_begin()) rest.type->store(*rest.future, Value());
}

void Calls::cancel(const PendingCall& call) noexcept {
  if (is_by_hand(call.peer.id)) return running_.cancel(call.peer, call.id);
  try {
    Message message;
    message.kind = MessageKind::Cancel;
    message.id = call.id;
    agent_->send(call.peer, std::move(message), Urgency::Later);
  } catch (const std::exception&) {  // the worker is gone
  }
}

namespace {

// The calls of a rank while it has a session.
struct Current {
  base::ProcessMark opened{base::ProcessMark::Unset{}};
  std::mutex mutex;
  std::shared_ptr<Calls> calls;  // guarded by mutex
};

Current& current_of(core::RankState& rank) { return rank.part<Current>(core::Part::Calls); }

}  // namespace

void refuse_forked(base::Location site) { refuse_forked(current_of(core::rank_state()).opened, site); }

std::shared_ptr<Calls> find_calls(core::RankState& rank) noexcept {
  Current* const current = base::if_memory([&] { return &current_of(rank); }, []() -> Current* { return nullptr; });
  if (current == nullptr || current->opened.is_inherited()) return nullptr;
  const std::lock_guard lock(current->mutex);
  return current->calls;
}

std::shared_ptr<Calls> find_calls() noexcept {
  const auto* const call = static_cast<const CallContext*>(core::thread_state().call.get());
  if (call == nullptr || !call->calls) return find_calls(core::rank_state());
  std::shared_ptr<Calls> calls = call->calls->lock();
  return calls == nullptr || calls->is_inherited() ? nullptr : calls;
}

std::shared_ptr<Calls> current_calls() {
  refuse_forked(base::Location::here());
  std::shared_ptr<Calls> calls = find_calls();
  if (calls != nullptr) return calls;
  throw Error(ErrorKind::Failed, "RPC has not been initialized. Call init_rpc first.");
}

void use_calls(core::RankState& rank, std::shared_ptr<Calls> calls) noexcept {
  // Without memory the profiler does not know the rank's number.
  base::if_memory([&] { profiler::set_node(rank, calls != nullptr ? calls->self().id() : -1); });
  Current& current = current_of(rank);
  const std::lock_guard lock(current.mutex);
  current.calls.swap(calls);
  current.calls != nullptr ? current.opened.set() : current.opened.clear();
}

}  // namespace distrun::rpc
