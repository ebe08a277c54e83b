#include <distrun/runtime/rref/references.hpp>

#include <algorithm>
#include <optional>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/rpc/calls/task.hpp>

namespace distrun::rref {
namespace {

constexpr std::size_t kAskedMax = 65'536;

core::ThreadState state_of(core::RankState& rank) {
  core::ThreadState state;
  state.rank = &rank;
  return state;
}

}  // namespace

References::References(const std::shared_ptr<rpc::Calls>& calls, core::RankState& rank, std::int64_t first_id)
    : calls_(calls),
      rank_(rank),
      self_(calls->self()),
      protocol_(self_.id(), first_id),
      caretaker_({[this](std::size_t most) {
                    const core::ThreadStateGuard guard(state_of(rank_));
                    lose_missed();
                    apply_left();
                    return waiting(most);
                  },
                  [this](WorkerKey to, const ForkMessage& message) {
                    const core::ThreadStateGuard guard(state_of(rank_));
                    send(to, message);
                  },
                  [this](std::size_t most) {
                    const core::ThreadStateGuard guard(state_of(rank_));
                    return page(most);
                  }}) {}

Caretaker::Outboxes References::waiting(std::size_t most) const {
  Caretaker::Outboxes waiting;
  const std::lock_guard lock(mutex_);
  for (const auto& [to, outbox] : protocol_.outboxes()) {
    for (const auto& [number, message] : outbox.waiting()) {
      std::vector<ForkMessage>& messages = waiting[key_of(to)];
      if (messages.size() == most) break;
      messages.push_back(message);
    }
  }
  return waiting;
}

References::~References() { caretaker_.stop(); }

void References::end_user(Handle& handle, Handle::State state, std::string why) noexcept {
  {
    const std::lock_guard lock(handle.mutex_);
    handle.why_ = std::move(why);
    if (state == Handle::State::Failed) handle.because_of_ = rank_behind(handle.owner().id());
  }
  handle.state_.store(state, std::memory_order_release);
}

void References::make_room_in(Work& work) {
  try {
    work.sends.reserve(protocol_.effects().sends.size());
    work.released.reserve(protocol_.effects().released.size());
    list_uncreated(work);
  } catch (...) {
    notice();
    throw;
  }
}

// A value that is released is of no interest to others any more.
void References::list_uncreated(Work& work) {
  const Effects& effects = protocol_.effects();
  for (const Effects::Uncreated& each : effects.uncreated) {
    if (std::ranges::find(effects.released, each.rref) != effects.released.end()) continue;
    const auto value = values_.find(each.rref);
    if (value != values_.end())
      work.failed.emplace_back(value->second, lost(each.rref, each.why, rank_behind(each.rref.created_on)));
  }
}

void References::apply(Work& work) {
  make_room_in(work);
  Effects effects = protocol_.take_effects();  // nothing is thrown from here on
  for (auto& [to, message] : effects.sends) work.sends.emplace_back(key_of(to), std::move(message));
  const bool is_news = !effects.confirmed.empty() || !effects.failed.empty();
  for (const ForkId& each : effects.confirmed) {
    const auto user = users_.find(each);
    if (user != users_.end()) user->second->state_.store(Handle::State::Confirmed, std::memory_order_release);
  }
  for (Effects::Failed& each : effects.failed) {
    const auto user = users_.find(each.fork);
    if (user != users_.end()) end_user(*user->second, Handle::State::Failed, std::move(each.why));
  }
  for (const RRefId& each : effects.released) {
    const auto value = values_.find(each);
    if (value == values_.end() || protocol_.is_owned(each)) continue;  // it was shared before the effect was applied
    work.released.push_back(std::move(value->second));
    values_.erase(value);
  }
  if (is_news && waiting_ > 0) changed_.notify_all();
}

void References::apply_left() noexcept {
  const auto has_left = [&] {
    const std::lock_guard lock(mutex_);
    return !protocol_.effects().are_empty();
  };
  if (has_left()) change_if_memory([] {});
}

void References::perform(Work work) noexcept {
  for (const auto& [value, error] : work.failed) Sink(value).fail(error);
  for (const auto& [to, message] : work.sends) send(to, message);
  notice();
}

void References::notice() noexcept {
  try {
    caretaker_.notice();
  } catch (const std::exception&) {
    return;  // no thread, or no memory: lost messages are resent when there is more to do
  }
}

void References::send(WorkerKey to, const ForkMessage& message) noexcept {
  try {
    wire::Encoder encoder;
    encoder(message);
    const bool is_awaited = message.kind != ForkMessageKind::Ack || message.fork != ForkId();
    const auto urgency = is_awaited ? rpc::Urgency::Later : rpc::Urgency::Whenever;
    if (const auto calls = calls_.lock()) calls->send(to, rpc::MessageKind::Reference, encoder.take(), urgency);
  } catch (const Error& error) {
    // Messages of a worker may be read after its loss. Then the loss is reported here once more.
    if (error.kind() == ErrorKind::Disconnected || error.kind() == ErrorKind::InvalidArgument) {
      base::if_memory([&] { lose(worker(to), error); });
    }
  } catch (const std::exception&) {
    return;  // the caretaker resends it
  }
}

// Returns a worker that may have left.
WorkerInfo References::worker(WorkerKey key) const {
  if (key.id == self_.id()) return self_;
  const auto calls = calls_.lock();
  const std::optional<WorkerInfo> found = calls == nullptr ? std::nullopt : calls->workers().find(key);
  return found ? *found : WorkerInfo("worker" + std::to_string(key.id), key);
}

WorkerKey References::key_of(WorkerId id) const {
  const auto met = met_.find(id);
  return {id, met == met_.end() ? 0 : met->second};
}

bool References::is_past(WorkerKey worker) const { return !worker.matches(key_of(worker.id)); }

void References::refuse_past(const WorkerInfo& from) const {
  if (is_past(from.key()))
    throw Error(ErrorKind::Disconnected, from.name() + " has left, and another worker has its id");
}

// Returns the rank behind the worker's loss or, if it is not lost, behind the first lost worker's: a value may have
// been lost together with its holders.
int References::rank_behind(WorkerId id) const {
  const auto found = ranks_lost_.find(id);
  if (found != ranks_lost_.end()) return found->second;
  return ranks_lost_.empty() ? -1 : ranks_lost_.begin()->second;
}

HandlePtr References::make_handle(WorkerInfo owner, RRefId r) {
  return HandlePtr(new Handle(shared_from_this(), std::move(owner), r));
}

std::shared_ptr<OwnedValue> References::value_of(RRefId r, const std::string& site) {
  const auto known = values_.find(r);
  if (known != values_.end()) return known->second;
  auto value = std::make_shared<OwnedValue>(r, site);
  values_.emplace(r, value);
  return value;
}

// The owner does not count the copy in a forked process.
void References::drop(const Handle& handle) noexcept {
  if (handle.is_owner()) return;
  if (mark_.is_inherited()) return;
  change_if_memory([&] {
    const auto user = users_.find(handle.fork_);
    if (user == users_.end() || user->second != &handle) return;
    users_.erase(user);
    protocol_.drop(handle.fork_);
  });
}

std::shared_ptr<rpc::Calls> References::calls() const {
  rpc::refuse_forked(mark_, base::Location::here());
  if (auto calls = calls_.lock()) return calls;
  throw Error(ErrorKind::Failed, "RPC is no longer running on this node");
}

std::shared_ptr<OwnedValue> References::asked_value(RRefId r) {
  const auto known = values_.find(r);
  if (known != values_.end()) return known->second;
  const std::string why = protocol_.why_gone(r);
  if (!why.empty()) throw lost(r, why, rank_behind(r.created_on));
  if (values_.size() >= protocol_.owned_count() + kAskedMax) {
    throw Error(ErrorKind::Overloaded,
                "more than " + std::to_string(kAskedMax) +
                    " requested values were never created; the last is RRefId = " + to_string(r));
  }
  return value_of(r, "not created yet");
}

std::shared_ptr<OwnedValue> References::find_value(RRefId r) {
  const std::lock_guard lock(mutex_);
  return asked_value(r);
}

// On the owner, a fork in flight to the owner itself keeps the value.
std::shared_ptr<const void> References::lend(const HandlePtr& handle) {
  if (!handle->is_owner()) return handle;
  const wire::Bytes lent = share(*handle, self_.id());
  return {handle.get(),
          [self = shared_from_this(), handle, lent](const void*) { self->withdraw(lent, self->self_.id()); }};
}

// Values of plugins' classes are destroyed on a handler thread, since their destructors may be slow.
void References::release_elsewhere(Work& work) {
  std::vector<std::shared_ptr<OwnedValue>> objects;
  for (auto& each : work.released) {
    const bool is_plain =
        each->future.done() && each->future.state()->error() == nullptr && !rpc::holds_instance(each->future.value());
    if (!is_plain) objects.push_back(std::move(each));
  }
  if (objects.empty()) return;
  try {
    future::handler_pool_of(rank_).post_control(
        rpc::task_of([objects = std::move(objects)]() mutable { objects.clear(); }));
  } catch (const std::exception&) {
    return;  // no thread, or no memory, is available: they are destroyed here
  }
}

References::Counts References::counts() const {
  const std::lock_guard lock(mutex_);
  return {protocol_.counts(), creations_};
}

void References::delete_users() {
  change([&] {
    for (const ForkId& each : protocol_.drop_all()) {
      const auto user = users_.find(each);
      if (user == users_.end()) continue;
      end_user(*user->second, Handle::State::Deleted, "");
      users_.erase(user);
    }
  });
}

std::vector<std::string> References::leaks() const {
  std::vector<std::string> lines;
  const std::lock_guard lock(mutex_);
  for (const RRefId& r : protocol_.owned()) {
    const auto value = values_.find(r);
    for (const auto& [fork, holder] : protocol_.holders_of(r)) {
      lines.push_back("Leaking RRef " + to_string(r) + " with fork Id " + to_string(fork) + ": held by " +
                      worker(holder).name() +
                      (value == values_.end() ? "" : ", made at " + base::printable(value->second->site)));
    }
  }
  return lines;
}

void References::close() noexcept {
  caretaker_.stop();
  std::unordered_map<RRefId, std::shared_ptr<OwnedValue>, HashId> values;
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    for (const auto& [fork, handle] : users_) end_user(*handle, Handle::State::Deleted, "");
    users_.clear();
    values.swap(values_);
  }
  changed_.notify_all();
}

std::shared_ptr<References> current_references() {
  rpc::refuse_forked(base::Location::here());
  const auto calls = rpc::find_calls();
  auto references = calls == nullptr ? nullptr : std::dynamic_pointer_cast<References>(calls->references());
  if (references != nullptr) return references;
  throw Error(ErrorKind::Failed, "RuntimeError",
              "Current RPC agent is not set! Did you initialize the RPC framework (e.g. by calling `init_rpc`)?");
}

}  // namespace distrun::rref
