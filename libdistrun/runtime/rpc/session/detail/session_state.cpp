#include <distrun/runtime/rpc/session/detail/session_state.hpp>

#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>

namespace distrun::rpc {
namespace {

std::optional<int> worker_threads_of(const RpcBackendOptions& options) {
  if (const auto* const pipe = dynamic_cast<const PipeOptions*>(&options)) return pipe->num_worker_threads;
  if (const auto* const faulty = dynamic_cast<const FaultyOptions*>(&options)) return faulty->num_worker_threads;
  return std::nullopt;
}

std::map<std::string, DeviceMap> device_maps_of(const RpcBackendOptions& options) {
  const auto* const pipe = dynamic_cast<const PipeOptions*>(&options);
  return pipe != nullptr ? pipe->device_maps : std::map<std::string, DeviceMap>();
}

}  // namespace

Session::Session(core::RankState& rank_, std::shared_ptr<Agent> agent_, const RpcBackendOptions& options)
    : rank(rank_),
      agent(std::move(agent_)),
      timeout(base::nanoseconds_of(options.rpc_timeout)),
      worker_threads(worker_threads_of(options)),
      device_maps(device_maps_of(options)) {}

void Session::start() {
  calls = std::make_shared<Calls>(agent, rank);
  calls->sender().set_timeout(timeout);
  calls->set_device_maps(device_maps);
  for (const Member& each : members) {
    calls->devices().set_site(worker_of(each), each.site);
    if (each.id == agent->worker_info().id()) calls->devices().add_devices(devices_of(each, members));
  }
  if (elastic != nullptr) elastic->introduce_devices(*calls);
  const Incarnation incarnation = agent->worker_info().incarnation();
  parts = make_session_parts(calls, incarnation == 0 ? 0 : incarnation - 1);
  if (elastic != nullptr) elastic->introduce_references(*calls);
  calls->set_handlers(
      [weak = weak_from_this()](const WorkerInfo& from, const wire::Bytes& bytes) {
        if (const auto session = weak.lock()) session->receive(from, bytes);
      },
      [weak = weak_from_this()](const WorkerInfo& peer, const Error& why) {
        if (const auto session = weak.lock()) session->lose(peer, why);
      });
  session_state_of(rank).set(shared_from_this());
  use_calls(rank, calls);
  calls->start();
  // A worker's id is its rank, unless the group numbers workers differently; looking after a live worker has no effect.
  on_death_.emplace(rank, [to = agent](int dead) { to->look_after(dead); });
}

void Session::close(const Error& why, base::Nanoseconds limit) noexcept {
  on_death_.reset();
  meetings.close("RPC was shut down meanwhile");
  if (calls != nullptr) {
    calls->close(why, limit);
  } else {
    agent->close(limit);
  }
  for (const auto& each : parts) each->close();
  forget_calls(rank);
  session_state_of(rank).set(nullptr);
}

void Session::receive(const WorkerInfo& from, const wire::Bytes& bytes) {
  auto message = wire::decode<Control>(wire::view_of(bytes));
  if (message.kind == ControlKind::Heard) return meetings.hear(message.text, message.round, from.name());
  if (message.kind == ControlKind::GaveUp) {
    return meetings.fail(message.text, message.round, from.name(), {message.why, message.because_of});
  }
  if (message.kind == ControlKind::Leave) {
    if (elastic != nullptr) elastic->take_leave(*calls, member_of(message.text));
    return;
  }
  termination.receive(*calls, from, std::move(message));
}

// Waits for the worker fail, even if there was no memory to record the worker.
void Session::lose(const WorkerInfo& peer, const Error& why) noexcept {
  try {
    meetings.lose(peer, why);
    termination.lose(peer, why);
  } catch (const std::exception&) {
    meetings.close("a worker is lost, and there is no memory to tell which");
    termination.fail();
  }
  for (const auto& each : parts) each->lose(peer, why);
  try {
    if (elastic != nullptr) elastic->remove_if_gone(*calls, peer, why);
  } catch (const std::exception&) {
    return;  // the log of the group lists it until another member removes it
  }
}

void SessionState::refuse_if_inherited(base::Location site) const { refuse_forked(opened_, site); }

// Checks is_inherited() without the lock: in a forked process, a thread that does not exist there may hold it.
std::shared_ptr<Session> SessionState::find() const {
  if (is_inherited()) return nullptr;
  const std::lock_guard lock(mutex_);
  return session_;
}

std::shared_ptr<Session> SessionState::get() const {
  refuse_if_inherited(base::Location::here());
  if (auto session = find()) return session;
  throw Error(ErrorKind::Failed, "RPC has not been initialized. Call init_rpc first.");
}

void SessionState::set(std::shared_ptr<Session> session) {
  const std::lock_guard lock(mutex_);
  session_.swap(session);
  session_ != nullptr ? opened_.set() : opened_.clear();
}

SessionHooks SessionState::hooks() const {
  const std::lock_guard lock(mutex_);
  return hooks_;
}

SessionHooks SessionState::exchange_hooks(SessionHooks hooks) {
  const std::lock_guard lock(mutex_);
  return std::exchange(hooks_, std::move(hooks));
}

std::optional<stores::Rendezvous> SessionState::find_rendezvous(const std::string& address) const {
  const std::lock_guard lock(mutex_);
  const auto found = rendezvous_.find(address);
  return found != rendezvous_.end() ? std::optional<stores::Rendezvous>(found->second) : std::nullopt;
}

void SessionState::keep(const std::string& address, const stores::Rendezvous& rendezvous) {
  const std::lock_guard lock(mutex_);
  rendezvous_.insert_or_assign(address, rendezvous);
}

SessionState::Rounds SessionState::rounds(const std::string& store) const {
  const std::lock_guard lock(mutex_);
  const auto found = rounds_.find(store);
  return found != rounds_.end() ? found->second : Rounds();
}

void SessionState::set_rounds(const std::string& store, Rounds rounds) {
  const std::lock_guard lock(mutex_);
  rounds_[store] = rounds;
}

void SessionState::forget() {
  std::map<std::string, stores::Rendezvous> stores;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  stores.swap(rendezvous_);
  rounds_.clear();
  hooks_ = {};
}

void SessionState::keep() {
  const std::lock_guard lock(mutex_);
  kept_ = session_;
}

void SessionState::release() {
  const std::lock_guard lock(mutex_);
  kept_.reset();
}

bool SessionState::is_kept() const {
  const std::lock_guard lock(mutex_);
  return session_ != nullptr && kept_.lock() == session_;
}

Starting::Starting(SessionState& state) : state_(state) {
  state.refuse_if_inherited(base::Location::here());
  const std::lock_guard lock(state.mutex_);
  if (state.session_ != nullptr || state.is_starting_) {
    throw Error(ErrorKind::Failed, "RPC is already initialized: there is one session of a rank at a time");
  }
  state.is_starting_ = true;
}

Starting::~Starting() {
  const std::lock_guard lock(state_.mutex_);
  state_.is_starting_ = false;
}

SessionState& session_state_of(core::RankState& rank) { return rank.part<SessionState>(core::Part::Session); }
SessionState& session_state() { return session_state_of(core::rank_state()); }

}  // namespace distrun::rpc
