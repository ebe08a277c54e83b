#include <distrun/plugin/rank/inbox.hpp>

#include <utility>

#include <distrun/plugin/sdk/plugin.h>
#include <distrun/common/base/deadline.hpp>
#include <distrun/plugin/rank/traced_wait.hpp>

namespace distrun::rank {
namespace {

std::string who(const wire::PeerFailed& failure) {
  if (failure.rank < 0) return "the suite's host " + failure.text;
  return "rank " + std::to_string(failure.rank) + " failed: " + failure.text;
}

base::TimePoint deadline_of(std::int64_t timeout_ms) {
  if (timeout_ms < 0) return base::TimePoint::max();
  return base::deadline_after(base::nanoseconds_of(std::chrono::milliseconds(timeout_ms)));
}

}  // namespace

board::PeerSet Inbox::others() const noexcept {
  board::PeerSet peers;
  for (std::int32_t rank = 0; rank < world_size_; ++rank) {
    if (rank != rank_) peers.add(rank);
  }
  return peers;
}

void Inbox::put(wire::RunOrder order) {
  on_peer_failed({});
  on_peer_died({});
  const std::lock_guard lock(mutex_);
  releases_.clear();
  messages_.clear();
  bytes_ = 0;
  peer_failed_.reset();
  died_.clear();
  finished_.clear();
  order_ = std::move(order);
  changed_.notify_all();
}

void Inbox::dismiss() {
  const std::lock_guard lock(mutex_);
  dismissed_ = true;
  changed_.notify_all();
}

std::optional<wire::RunOrder> Inbox::wait_for_order() {
  board::WaitInfo shown;
  shown.name = "the next test";
  std::unique_lock lock(mutex_);
  board::wait_until(writer_, shown, lock, changed_, base::TimePoint::max(),
                    [this] { return order_ || dismissed_ || disconnected_; });
  return std::exchange(order_, std::nullopt);
}

void Inbox::put(wire::BarrierRelease release) {
  const std::lock_guard lock(mutex_);
  std::string name = release.name;
  releases_.emplace(std::move(name), std::move(release));
  changed_.notify_all();
}

bool Inbox::put(wire::RankMessage message) {
  const std::lock_guard lock(mutex_);
  const std::size_t size = message.data.size() + message.tag.size() + sizeof message;
  if (bytes_ + size > kBytesMax) return false;
  bytes_ += size;
  messages_.push_back(std::move(message));
  changed_.notify_all();
  return true;
}

void Inbox::put(wire::PeerFailed failure) {
  {
    const std::lock_guard lock(mutex_);
    if (peer_failed_) return;  // report the first cause
    peer_failed_ = std::move(failure);
    changed_.notify_all();
  }
  const std::lock_guard calling(calling_);
  call_of_failure();
}

void Inbox::on_peer_failed(PeerFailedCall call) {
  const std::lock_guard calling(calling_);
  peer_failed_call_ = std::move(call);
  call_of_failure();
}

// Calls the handler once and then clears it.
void Inbox::call_of_failure() {
  std::optional<wire::PeerFailed> failure;
  {
    const std::lock_guard lock(mutex_);
    failure = peer_failed_;
  }
  if (!failure || !peer_failed_call_) return;
  std::exchange(peer_failed_call_, {})(failure->rank, who(*failure));
}

void Inbox::put(wire::PeerDied death) {
  const std::lock_guard calling(calling_);
  {
    const std::lock_guard lock(mutex_);
    died_.push_back(death.rank);
  }
  if (peer_died_call_) peer_died_call_(death.rank);
}

void Inbox::on_peer_died(PeerDiedCall call) {
  const std::lock_guard calling(calling_);
  peer_died_call_ = std::move(call);
  if (!peer_died_call_) return;
  std::vector<std::int32_t> dead;
  {
    const std::lock_guard lock(mutex_);
    dead = died_;
  }
  for (const std::int32_t rank : dead) peer_died_call_(rank);
}

void Inbox::put(wire::PeerFinished peer) {
  const std::lock_guard lock(mutex_);
  finished_.insert(peer.rank);
  changed_.notify_all();
}

void Inbox::disconnect() {
  const std::lock_guard lock(mutex_);
  disconnected_ = true;
  changed_.notify_all();
}

// Blocks until `ready`, then returns nullopt; else returns how the wait ended. A result that has arrived takes
// precedence over a later failure.
template <class Ready>
std::optional<Waited> Inbox::wait(std::unique_lock<std::mutex>& lock, std::int64_t timeout_ms,
                                  const board::WaitInfo& shown, const std::string& what, Ready ready) {
  const auto over = [&] { return ready() || peer_failed_ || disconnected_; };
  std::optional<TracedWait> traced;
  if (!over()) traced.emplace(trace_, shown);
  if (!board::wait_until(writer_, shown, lock, changed_, deadline_of(timeout_ms), over)) {
    return Waited{DISTRUN_TIMEOUT,
                  what + " did not complete within " + base::human(std::chrono::milliseconds(timeout_ms)),
                  -1,
                  {}};
  }
  if (ready()) return std::nullopt;
  if (peer_failed_) return Waited{DISTRUN_PEER_FAILED, who(*peer_failed_), peer_failed_->rank, {}};
  return Waited{DISTRUN_DISCONNECTED, what + " cannot complete: the connection to the coordinator is lost", -1, {}};
}

Waited Inbox::wait_for_release(const std::string& barrier, std::int64_t timeout_ms, base::Location site) {
  board::WaitInfo shown;
  shown.kind = board::WaitKind::Barrier;
  shown.name = barrier;
  shown.rule = board::PeerRule::All;
  shown.peers = others();
  shown.site = site;
  std::unique_lock lock(mutex_);
  auto failed =
      wait(lock, timeout_ms, shown, "barrier \"" + barrier + "\"", [&] { return releases_.contains(barrier); });
  if (failed) return std::move(*failed);
  auto release = releases_.extract(releases_.find(barrier));
  if (release.mapped().error.empty()) return {};
  return {DISTRUN_PEER_FAILED, std::move(release.mapped().error), release.mapped().because_of, {}};
}

std::deque<wire::RankMessage>::iterator Inbox::find(std::int32_t from, const std::string& tag) {
  for (auto it = messages_.begin(); it != messages_.end(); ++it) {
    if ((from < 0 || it->from == from) && it->tag == tag) return it;
  }
  return messages_.end();
}

bool Inbox::nobody_sends(std::int32_t from) const {
  if (from >= 0) return finished_.contains(from);
  return static_cast<std::int32_t>(finished_.size()) >= world_size_ - 1 && !finished_.empty();
}

bool Inbox::has_message(std::int32_t from, const std::string& tag) {
  const std::lock_guard lock(mutex_);
  return find(from, tag) != messages_.end();
}

Waited Inbox::wait_for_message(std::int32_t from, const std::string& tag, std::int64_t timeout_ms,
                               base::Location site) {
  board::WaitInfo shown;
  shown.kind = board::WaitKind::Receive;
  shown.name = tag;
  shown.rule = board::PeerRule::Any;
  if (from < 0) shown.peers = others();
  shown.peers.add(from);
  shown.site = site;
  std::unique_lock lock(mutex_);
  const std::string sender = from < 0 ? "any rank" : "rank " + std::to_string(from);
  auto failed = wait(lock, timeout_ms, shown, "receive(\"" + tag + "\") from " + sender,
                     [&] { return find(from, tag) != messages_.end() || nobody_sends(from); });
  if (failed) return std::move(*failed);
  const auto found = find(from, tag);
  if (found == messages_.end()) {
    return {DISTRUN_PEER_FAILED,
            (from < 0 ? "every other rank" : sender) + " finished without sending \"" + tag + "\"",
            from < 0 ? *finished_.begin() : from,
            {}};
  }
  Waited waited;
  waited.message = std::move(*found);
  messages_.erase(found);
  bytes_ -= waited.message.data.size() + waited.message.tag.size() + sizeof waited.message;
  return waited;
}

}  // namespace distrun::rank
