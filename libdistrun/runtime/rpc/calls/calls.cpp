#include <distrun/runtime/rpc/calls/calls.hpp>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/common/base/nearest.hpp>
#include <distrun/common/board/describe.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/profiler/node.hpp>
#include <distrun/runtime/rpc/calls/profiled_call.hpp>
#include <distrun/runtime/rpc/calls/task.hpp>
#include <distrun/runtime/rpc/session/options.hpp>

namespace distrun::rpc {
namespace {

constexpr std::size_t kWaitsTold = 3;   // waits of the other worker in the text of a timeout
constexpr std::size_t kDeadMax = 1024;  // remembered deaths of workers

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

struct Calls::Workers {
  std::unordered_map<std::string, WorkerInfo> by_name;
  std::unordered_map<WorkerId, WorkerInfo> by_id;
};

Calls::Calls(std::shared_ptr<Agent> agent, core::RankState& rank)
    : agent_(std::move(agent)),
      rank_(rank),
      devices_(make_carrier(agent_, rank)),
      pending_([this](PendingCall call) { expire(std::move(call)); }),
      timeout_ns_(base::nanoseconds_of(kDefaultRpcTimeoutSeconds).count()) {
  refresh_workers();
}

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

void Calls::refresh_workers() {
  // Held while reading and storing, so that concurrent refreshes cannot store an older list over a newer one.
  const std::lock_guard refreshing(refresh_mutex_);
  auto workers = std::make_shared<Workers>();
  for (const WorkerInfo& each : agent_->worker_infos()) {
    workers->by_name.emplace(each.name(), each);
    workers->by_id.emplace(each.id(), each);
  }
  const std::lock_guard lock(mutex_);
  std::erase_if(dead_, [&](const auto& each) { return workers->by_name.contains(each.first); });
  workers_ = std::move(workers);
}

void Calls::note_death(const WorkerInfo& worker, const Error& why) {
  const std::lock_guard lock(mutex_);
  if (dead_.size() < kDeadMax) dead_.insert_or_assign(worker.name(), why);
}

std::shared_ptr<const Calls::Workers> Calls::workers() const {
  const std::lock_guard lock(mutex_);
  return workers_;
}

std::optional<WorkerInfo> Calls::find_worker(WorkerKey key) const {
  const auto all = workers();
  const auto found = all->by_id.find(key.id);
  if (found == all->by_id.end() || !found->second.key().matches(key)) return std::nullopt;
  return found->second;
}

// Returns the name of a worker that may have left.
std::string Calls::name_of_worker(WorkerKey key) const {
  const std::optional<WorkerInfo> found = find_worker(key);
  return found ? found->name() : "worker " + std::to_string(key.id);
}

void Calls::throw_if_dead(const std::string& name, base::Location site) const {
  const std::lock_guard lock(mutex_);
  const auto found = dead_.find(name);
  if (found == dead_.end()) return;
  throw Error(found->second.kind(), found->second.type(), found->second.text(), site)
      .with_cause(found->second.because_of());
}

WorkerInfo Calls::resolve(const Destination& to) const {
  const std::shared_ptr<const Workers> workers = this->workers();
  const auto refuse = [&](const std::string& what) {
    throw Error(
        ErrorKind::InvalidArgument, "RuntimeError",
        "name:" + self().name() + ",rank:" + std::to_string(self().id()) + " could not find destination " + what,
        to.site());
  };
  if (const auto* const name = std::get_if<std::string>(&to.whom())) {
    const auto found = workers->by_name.find(*name);
    if (found == workers->by_name.end()) {
      throw_if_dead(*name, to.site());
      std::vector<std::string> known;
      for (const auto& [each, worker] : workers->by_name) known.push_back(each);
      refuse("name " + *name + base::did_you_mean(*name, known));
    }
    return found->second;
  }
  const auto* const worker = std::get_if<WorkerInfo>(&to.whom());
  const WorkerId id = worker != nullptr ? worker->id() : std::get<int>(to.whom());
  const auto found = workers->by_id.find(id);
  if (found == workers->by_id.end()) {
    // Only a worker that was a member has an incarnation.
    if (worker != nullptr && worker->incarnation() != 0) {
      throw_if_dead(worker->name(), to.site());
      throw Error(ErrorKind::Disconnected, worker->name() + " has left", to.site());
    }
    refuse("id " + std::to_string(id));
  }
  if (worker != nullptr && worker->name() != found->second.name()) refuse(to_string(*worker));
  if (worker != nullptr && !worker->matches(found->second)) {
    throw Error(ErrorKind::Disconnected,
                worker->name() + " has left, and another worker has joined as " + worker->name() +
                    " since: get_worker_info() returns that one",
                to.site());
  }
  return found->second;
}

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
    own.while_doing("call \"" + std::string(call.name) + "\" of " + name_of_worker(call.peer));
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
                       name_of_worker(call.peer) + ", message " + std::to_string(call.id) + shown;
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
