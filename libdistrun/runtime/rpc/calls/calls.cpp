#include <distrun/runtime/rpc/calls/calls.hpp>

#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/future/unseen_errors.hpp>
#include <distrun/runtime/profiler/node.hpp>
#include <distrun/runtime/rpc/calls/error_codec.hpp>
#include <distrun/runtime/rpc/calls/log.hpp>
#include <distrun/runtime/rpc/calls/task.hpp>

namespace distrun::rpc {

Calls::Calls(std::shared_ptr<Agent> agent, core::RankState& rank)
    : shared_(*this, std::move(agent), rank), server_(shared_), sender_(shared_) {}

void Calls::set_device_maps(std::map<std::string, DeviceMap> maps) {
  shared_.device_maps = std::move(maps);
  for (const auto& [worker, map] : shared_.device_maps) {
    for (const auto& [here, there] : map) shared_.devices->add_devices({here});
  }
}

void Calls::set_handlers(ControlHandler control, LossHandler loss) {
  control_ = std::move(control);
  loss_ = std::move(loss);
}

void Calls::start() { shared_.agent->start(*this); }

CallCounts Calls::counts() const {
  CallCounts counts;
  counts.sent = sender_.sent().all();
  counts.received = server_.received().all();
  counts.waiting = sender_.completions().pending().count();
  counts.ending = sender_.completions().ending();  // after what leaves `waiting`, before what that leads to
  counts.running = server_.running();
  counts.running_async = server_.running_async();
  counts.handlers = future::handler_pool_of(shared_.rank).statistics().open;
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
  if (is_inherited() || !sender_.close()) return;
  shared_.devices->finish(base::deadline_after(limit));
  shared_.agent->close(limit);
  sender_.completions().fail_all(why);
}

void Calls::add_debug_info(std::map<std::string, std::string>& info) const {
  const CallCounts now = counts();
  const auto handlers = future::handler_pool_of(shared_.rank).statistics();
  info["agent.client_active_calls"] = std::to_string(now.waiting);
  info["agent.server_active_calls"] = std::to_string(now.running);
  info["agent.server_active_async_calls"] = std::to_string(now.running_async);
  info["agent.num_idle_threads"] = std::to_string(handlers.threads - handlers.running - handlers.blocked);
  info["agent.threads"] = std::to_string(handlers.threads);
  info["agent.calls_sent"] = std::to_string(now.sent);
  info["agent.calls_received"] = std::to_string(now.received);
  server_.add_debug_info(info);
  shared_.devices->add_debug_info(info);
  for (const auto& [key, value] : shared_.agent->debug_info()) info[key] = value;
}

std::unique_ptr<future::HandlerTask> Calls::receive(const WorkerInfo& from, Message message) noexcept {
  const core::ThreadStateGuard guard(shared_.own_state());
  try {
    switch (message.kind) {
      case MessageKind::Call: return server_.receive(from, std::move(message));
      case MessageKind::Reply:
      case MessageKind::Failure: return sender_.completions().receive(from, std::move(message));
      case MessageKind::Devices: return shared_.devices->receive(from, message.payload), nullptr;
      case MessageKind::Cancel: return server_.cancel(from.key(), message.id), nullptr;
      case MessageKind::Control:
      case MessageKind::Reference: return receive_bytes(from, std::move(message)), nullptr;
    }
  } catch (...) {
    miss(from, message.kind, message.id, error_of(std::current_exception()));
  }
  return nullptr;
}

// A reference's message is sent again until it is answered. Without any of the others, a worker may wait in vain.
void Calls::miss(const WorkerInfo& from, MessageKind kind, std::uint64_t id, const Error& why) noexcept {
  future::unseen_errors_of(shared_.rank).add_made([&] {
    return "RPC: a " + std::string(name_of(kind)) + " of " + from.name() + " can't be read: " + why.what();
  });
  if (!is_shortage(why) || kind == MessageKind::Reference) return;
  sender_.completions().fail(id, from.key(), why);
  if (kind == MessageKind::Control || kind == MessageKind::Devices) shared_.give_up(from.key(), "a message of", why);
}

void Calls::receive_bytes(const WorkerInfo& from, Message&& message) {
  if (message.kind == MessageKind::Reference) {
    if (shared_.references != nullptr) shared_.references->receive_message(from, message.payload);
    return;
  }
  if (!control_) return;
  auto hear = [self = shared_from_this(), from, bytes = std::move(message.payload)] {
    try {
      self->control_(from, bytes);
    } catch (...) {
      const Error why = error_of(std::current_exception());
      base::if_memory(
          [&] { log("RPC: a control message of " + from.name() + ": " + base::printable(why.what()) + "\n"); });
      if (is_shortage(why)) self->shared_.give_up(from.key(), "a message of", why);
    }
  };
  future::handler_pool_of(shared_.rank).post_control(task_of(std::move(hear)));
}

void Calls::send(WorkerKey to, MessageKind kind, wire::Bytes bytes, Urgency urgency) {
  refuse_forked(shared_.mark, base::Location::here());
  Message message;
  message.kind = kind;
  message.payload = std::move(bytes);
  if (to.id == self().id()) return receive_bytes(self(), std::move(message));
  shared_.agent->send(to, std::move(message), urgency);
}

void Calls::fail_own(std::uint64_t id, const Error& why) noexcept { sender_.completions().fail(id, self().key(), why); }

// A call is begun in the rank's own state: its caller may be in the middle of other work.
void Calls::pass_to_self(Message&& message) {
  if (message.kind == MessageKind::Cancel) return server_.cancel(self().key(), message.id);
  const bool is_call = message.kind == MessageKind::Call;
  std::optional<core::ThreadStateGuard> guard;
  if (is_call) guard.emplace(shared_.own_state());
  auto task =
      is_call ? server_.begin(self(), std::move(message)) : sender_.completions().receive(self(), std::move(message));
  if (task != nullptr) future::handler_pool_of(rank()).post(std::move(task));
}

void Calls::lose(const WorkerInfo& peer, const Error& why) noexcept {
  server_.lose(peer.key());
  sender_.lose(peer.key(), why);
  shared_.devices->lose(peer);
  if (shared_.references != nullptr) shared_.references->lose(peer, why);
  if (!loss_) return;
  try {
    future::handler_pool_of(shared_.rank).post_control(task_of([self = shared_from_this(), peer, why] {
      self->loss_(peer, why);
    }));
  } catch (const std::exception&) {  // no memory or thread: without the news others would wait for the peer in vain
    loss_(peer, why);
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

// Returns null if there is no memory for it.
Current* find_current(core::RankState& rank) noexcept {
  return base::if_memory([&] { return &current_of(rank); }, []() -> Current* { return nullptr; });
}

}  // namespace

void refuse_forked(base::Location site) { refuse_forked(current_of(core::rank_state()).opened, site); }

std::shared_ptr<Calls> find_calls(core::RankState& rank) noexcept {
  Current* const current = find_current(rank);
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

void use_calls(core::RankState& rank, const std::shared_ptr<Calls>& calls) {
  Current& current = current_of(rank);
  profiler::set_node(rank, calls->self().id());
  const std::lock_guard lock(current.mutex);
  current.calls = calls;
  current.opened.set();
}

void forget_calls(core::RankState& rank) noexcept {
  // Without memory the profiler still has the rank's number.
  base::if_memory([&] { profiler::set_node(rank, -1); });
  Current* const current = find_current(rank);
  if (current == nullptr) return;  // no calls were ever used
  std::shared_ptr<Calls> last;     // released without the mutex
  const std::lock_guard lock(current->mutex);
  current->calls.swap(last);
  current->opened.clear();
}

}  // namespace distrun::rpc
