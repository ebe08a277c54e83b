#include <distrun/runtime/rpc/calls/pending_calls.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/wait.hpp>

namespace distrun::rpc {
namespace {

constexpr std::size_t kFirstSlots = 64;

}  // namespace

PendingCalls::PendingCalls(Expired expired)
    : expired_(std::move(expired)), slots_(kFirstSlots), thread_("distrun-timeout", [this] { return expire_due(); }) {
  due_.reserve(slots_.size());
}

std::uint64_t PendingCalls::waiting_for(WorkerId peer) const {
  const auto load = loads_.find(peer);
  return load == loads_.end() ? 0 : load->second;
}

bool PendingCalls::has_room(const Load& load) const {
  const std::uint64_t waiting = waiting_for(load.peer.id);
  if (!fits(load.bytes, waiting, load.most)) return false;
  return waiting + load.bytes <= kAlwaysBytes || fits(load.bytes, load_of_all_, load.most_of_all);
}

void PendingCalls::count(WorkerId peer, std::uint64_t bytes) {
  if (bytes == 0) return;
  loads_[peer] += bytes;
  load_of_all_ += bytes;
}

std::vector<WorkerId> PendingCalls::owing() const {
  std::vector<WorkerId> workers;
  const std::lock_guard lock(mutex_);
  for (const auto& [worker, bytes] : loads_) workers.push_back(worker);
  std::ranges::sort(workers);
  return workers;
}

std::uint64_t PendingCalls::next_id() {
  Load none;
  return next_id(none);
}

// Skips a number if its slot is taken by a long-waiting call.
std::uint64_t PendingCalls::next_id(Load& load) {
  const std::lock_guard lock(mutex_);
  load.waiting = waiting_for(load.peer.id);
  load.waiting_of_all = load_of_all_;
  if (!has_room(load)) return 0;
  if (load.is_call && count_ >= kCallsMax) {
    throw Error(ErrorKind::Overloaded, "too many calls wait for their answers: " + std::to_string(kCallsMax) +
                                           " at the same time; wait for some before you make more");
  }
  if (2 * count_ >= slots_.size()) grow();
  do {
    ++last_id_;
  } while (slots_[place_of(last_id_)].id != 0);
  count(load.peer.id, load.bytes);
  PendingCall& slot = slots_[place_of(last_id_)];
  slot.id = last_id_;
  slot.peer = load.peer;
  slot.bytes = load.bytes;
  ++count_;
  return last_id_;
}

bool PendingCalls::wait_for_room(const Load& load, const board::WaitInfo& info, base::TimePoint deadline) {
  std::unique_lock lock(mutex_);
  ++waiting_for_room_;
  const bool has_come = core::wait_until(info, lock, room_, deadline, [&] { return has_room(load); });
  --waiting_for_room_;
  return has_come;
}

void PendingCalls::drop(std::uint64_t id) noexcept {
  const std::lock_guard lock(mutex_);
  PendingCall& slot = slots_[place_of(id)];
  if (id != 0 && slot.id == id) take_out(slot);
}

PendingCall PendingCalls::take_out(PendingCall& slot) noexcept {
  --count_;
  if (!slot.holds_shutdown) --holding_none_;
  const auto load = slot.bytes != 0 ? loads_.find(slot.peer.id) : loads_.end();
  if (load != loads_.end()) {
    load->second -= slot.bytes;
    load_of_all_ -= slot.bytes;
    if (load->second == 0) loads_.erase(load);
    if (waiting_for_room_ != 0) room_.notify_all();
  }
  return std::exchange(slot, PendingCall());
}

bool PendingCalls::add(PendingCall call) {
  const std::lock_guard lock(mutex_);
  PendingCall& slot = slots_[place_of(call.id)];
  if (slot.id != 0 && slot.id != call.id) return false;
  if (slot.id == 0) {
    count(call.peer.id, call.bytes);
    ++count_;
  } else {
    call.bytes = slot.bytes;  // as counted before, for the same peer
    if (!slot.holds_shutdown) --holding_none_;
  }
  if (!call.holds_shutdown) ++holding_none_;
  slot = std::move(call);
  return true;
}

PendingCall* PendingCalls::find(std::uint64_t id, WorkerKey peer) noexcept {
  PendingCall& slot = slots_[place_of(id)];
  const bool is_it = id != 0 && slot.id == id && slot.peer.matches(peer) && slot.future != nullptr;
  return is_it ? &slot : nullptr;
}

std::optional<PendingCall> PendingCalls::take(std::uint64_t id, WorkerKey peer) {
  const std::lock_guard lock(mutex_);
  PendingCall* const slot = find(id, peer);
  if (slot == nullptr || slot->waits != PendingCall::Waits::ForAnswer) return std::nullopt;
  return take_out(*slot);
}

std::optional<PendingCall> PendingCalls::take_late(std::uint64_t id, WorkerKey peer) {
  const std::lock_guard lock(mutex_);
  PendingCall* const slot = find(id, peer);
  if (slot == nullptr) return std::nullopt;
  return take_out(*slot);
}

// A call that moves as the table grows moves to a later place.
std::optional<PendingCall> PendingCalls::take_next(std::size_t& place, std::optional<WorkerKey> peer) {
  const std::lock_guard lock(mutex_);
  for (; place < slots_.size(); ++place) {
    PendingCall& slot = slots_[place];
    if (slot.future == nullptr || slot.waits == PendingCall::Waits::ForDecoder) continue;
    if (!peer || slot.peer.matches(*peer)) return take_out(slot);
  }
  return std::nullopt;
}

// Numbers in different slots stay in different slots.
void PendingCalls::grow() {
  std::vector<PendingCall> larger(2 * slots_.size());
  due_.reserve(larger.size());
  for (PendingCall& slot : slots_) {
    if (slot.id != 0) larger[slot.id & (larger.size() - 1)] = std::move(slot);
  }
  slots_.swap(larger);
}

void PendingCalls::watch_timeouts(base::TimePoint deadline) { thread_.call_by(deadline); }

base::TimePoint PendingCalls::expire_due() noexcept {
  std::unique_lock lock(mutex_);
  const base::TimePoint next = find_due(base::system_clock().now());
  while (!due_.empty()) {
    std::optional<PendingCall> call = take_due(due_.back().second);
    due_.pop_back();
    if (!call) continue;
    is_expiring_ = true;
    lock.unlock();
    expired_(*std::exchange(call, std::nullopt));
    lock.lock();
    is_expiring_ = false;
  }
  return next;
}

// The earliest is the last.
base::TimePoint PendingCalls::find_due(base::TimePoint now) {
  base::TimePoint next = core::kForever;
  for (PendingCall& slot : slots_) {
    if (slot.future == nullptr) continue;
    if (slot.deadline > now) {
      next = std::min(next, slot.deadline);
      continue;
    }
    due_.emplace_back(slot.deadline, slot.id);
  }
  std::sort(due_.begin(), due_.end(), std::greater<>());
  return next;
}

// Returns nullopt if the call was answered meanwhile.
std::optional<PendingCall> PendingCalls::take_due(std::uint64_t id) noexcept {
  PendingCall& slot = slots_[place_of(id)];
  if (slot.id != id || slot.future == nullptr) return std::nullopt;
  return take_out(slot);
}

int PendingCalls::count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(count_ - holding_none_);
}

int PendingCalls::expiring() const {
  const std::lock_guard lock(mutex_);
  return is_expiring_ ? 1 : 0;
}

void PendingCalls::stop() noexcept { thread_.stop(); }

}  // namespace distrun::rpc
