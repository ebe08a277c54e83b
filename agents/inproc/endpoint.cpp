#include <agents/inproc/endpoint.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <utility>

#include <distrun/common/base/check.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/core/hosts.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/rpc/successor.hpp>

namespace distrun::agents::inproc {
namespace {

constexpr std::string_view kScheme = "inproc:";

constexpr std::size_t kEndMax = 1024;

Error left(const rpc::WorkerInfo& worker, const std::string& why = "", int because_of = -1) {
  Error error(ErrorKind::Disconnected,
              worker.name() + " has left: " + (why.empty() ? "it has closed its agent" : why.substr(0, kEndMax)));
  return error.with_cause(because_of).with_cause(core::rank_of_peer(worker.id(), ::getpid()));
}

Error copy_of(const Error& why) noexcept {
  return base::error_or_shortage(ErrorKind::Disconnected, [&] { return Error(why); });
}

// The open endpoints of this process.
class Table {
 public:
  std::uint64_t next_number() noexcept { return ++last_; }
  void add(std::uint64_t number, std::weak_ptr<Endpoint> endpoint) {
    const std::lock_guard lock(mutex_);
    endpoints_[number] = std::move(endpoint);
  }
  void remove(std::uint64_t number) noexcept {
    const std::lock_guard lock(mutex_);
    endpoints_.erase(number);
  }
  std::shared_ptr<Endpoint> find(std::uint64_t number) const {
    const std::lock_guard lock(mutex_);
    const auto found = endpoints_.find(number);
    return found == endpoints_.end() ? nullptr : found->second.lock();
  }
  // Returns the first endpoint with a higher number, and sets `number` to its number. Null at the end.
  std::shared_ptr<Endpoint> next(std::uint64_t& number) const noexcept {
    const std::lock_guard lock(mutex_);
    for (auto each = endpoints_.upper_bound(number); each != endpoints_.end(); ++each) {
      number = each->first;
      if (auto live = each->second.lock()) return live;
    }
    return nullptr;
  }

 private:
  std::atomic<std::uint64_t> last_{0};
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::weak_ptr<Endpoint>> endpoints_;  // guarded by mutex_
};

// Never destroyed: threads of ranks may outlive main().
Table& table() {
  static auto* const table = new Table;
  return *table;
}

// Returns the number that `text` consists of. Throws the error for an invalid address.
std::uint64_t number_in(std::string_view text, const std::string& address) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  throw Error(ErrorKind::InvalidArgument, "not an address of inproc: \"" + address + "\"");
}

// Returns "@node01" if the ranks run on several hosts: processes of other hosts may have the same pid.
std::string at_host() {
  const std::string& host = core::known_hosts().name();
  return host.empty() ? "" : "@" + host;
}

std::uint64_t endpoint_of(const std::string& address) {
  const std::size_t at = std::min(address.find('@'), address.size());
  std::string_view rest = std::string_view(address).substr(0, at);
  const bool is_ours = rest.substr(0, kScheme.size()) == kScheme;
  if (is_ours) rest.remove_prefix(kScheme.size());
  const std::size_t colon = rest.find(':');
  const std::uint64_t pid = number_in(is_ours ? rest.substr(0, colon) : std::string_view(), address);
  if (pid != static_cast<std::uint64_t>(::getpid()) || address.substr(at) != at_host()) {
    throw Error(ErrorKind::InvalidArgument,
                "inproc is for ranks that are threads of one process (--isolation threads); the worker at " + address +
                    " is in another process");
  }
  return number_in(colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1), address);
}

}  // namespace

std::shared_ptr<Endpoint> Endpoint::make(const rpc::AgentSetting& setting) {
  const std::uint64_t number = table().next_number();
  auto endpoint = std::make_shared<Endpoint>(setting, number);
  table().add(number, endpoint);
  return endpoint;
}

Endpoint::Endpoint(const rpc::AgentSetting& setting, std::uint64_t number)
    : worker_(setting.worker), number_(number), secret_(setting.secret), rank_(core::rank_state()) {}

std::string Endpoint::address() const {
  return std::string(kScheme) + std::to_string(::getpid()) + ":" + std::to_string(number_) + at_host();
}

std::vector<rpc::WorkerInfo> Endpoint::workers() const {
  std::map<rpc::WorkerId, rpc::WorkerInfo> by_id{{worker_.id(), worker_}};
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, peer] : peers_) {
      if (peer.is_member) by_id.emplace(id, peer.worker);
    }
  }
  std::vector<rpc::WorkerInfo> all;
  for (auto& [id, worker] : by_id) all.push_back(std::move(worker));
  return all;
}

void Endpoint::add_worker(const rpc::WorkerRecord& record) {
  const std::uint64_t number = endpoint_of(record.address);
  if (number == number_) return;
  std::shared_ptr<Lane> before;
  bool is_started = false;
  {
    const std::lock_guard lock(mutex_);
    is_started = receiver_ != nullptr;
    Peer& peer = add(record.worker, number, before);
    if (peer.gone) renew(peer);
  }
  if (before != nullptr)
    before->end(base::error_or_shortage(ErrorKind::Disconnected, [&] { return rpc::replaced_error(before->from()); }));
  // Once started, the loss would be reported on this thread, which may hold the locks of its caller.
  if (!is_started) look_after(record.worker.key());
}

// A peer that closes leaves the table first and then notifies all endpoints, so its end is not missed.
void Endpoint::look_after(rpc::WorkerKey worker) noexcept {
  std::uint64_t number = 0;
  std::shared_ptr<Lane> from;
  {
    const std::lock_guard lock(mutex_);
    const auto found = peers_.find(worker.id);
    if (found == peers_.end() || !found->second.worker.key().matches(worker)) return;
    number = found->second.number;
    from = found->second.in;
  }
  if (table().find(number) != nullptr) return;
  lose(worker.id, number, base::error_or_shortage(ErrorKind::Disconnected, [&] { return left(from->from()); }));
}

Endpoint::Peer& Endpoint::add(const rpc::WorkerInfo& worker, std::uint64_t number, std::shared_ptr<Lane>& before) {
  if (worker.id() == worker_.id()) {
    throw Error(ErrorKind::InvalidArgument, to_string(worker) + " has the id of this worker, " + to_string(worker_));
  }
  const auto known = peers_.find(worker.id());
  if (known != peers_.end()) {
    if (known->second.number == number) return known->second;
    if (rpc::is_successor(known->second.worker, worker)) {
      throw rpc::outdated_error(worker);
    }
    if (!known->second.gone && !rpc::is_successor(worker, known->second.worker)) {
      throw Error(ErrorKind::InvalidArgument,
                  to_string(worker) + " has the id of " + to_string(known->second.worker) + ", which has not left");
    }
  }
  Peer peer{worker, number, std::make_shared<Lane>(worker, worker_, rank_), nullptr, std::nullopt};
  if (receiver_ != nullptr) peer.in->open(*receiver_);
  if (known == peers_.end()) return peers_.emplace(worker.id(), std::move(peer)).first->second;
  std::erase_if(past_, [](const auto& lane) { return lane->is_over(); });
  past_.push_back(known->second.in);
  if (!known->second.gone) before = known->second.in;
  return known->second = std::move(peer);
}

// The ended lane is kept until its messages have been received.
void Endpoint::renew(Peer& peer) {
  Peer renewed{peer.worker, peer.number, std::make_shared<Lane>(peer.worker, worker_, rank_), nullptr, std::nullopt};
  if (receiver_ != nullptr) renewed.in->open(*receiver_);
  past_.push_back(peer.in);
  peer = std::move(renewed);
}

bool Endpoint::is_gone(const std::string& address) noexcept {
  try {
    return table().find(endpoint_of(address)) == nullptr;
  } catch (const std::exception&) {
    return false;  // the worker is in another process
  }
}

void Endpoint::remove_worker(rpc::WorkerKey worker) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = peers_.find(worker.id);
  if (found == peers_.end() || !found->second.worker.key().matches(worker)) return;
  Peer& peer = found->second;
  if (!peer.gone) {
    peer.gone = base::error_or_shortage(
        ErrorKind::Disconnected, [&] { return Error(ErrorKind::Disconnected, peer.worker.name() + " has left"); });
  }
  peer.is_member = false;
  peer.in->forgive();
}

// Opens the lanes without the lock, since messages that wait in them are received at once.
void Endpoint::start(rpc::Receiver& receiver) {
  std::vector<std::shared_ptr<Lane>> lanes;
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return;
    DISTRUN_ASSERT(receiver_ == nullptr);
    receiver_ = &receiver;
    for (const auto& [id, peer] : peers_) lanes.push_back(peer.in);
  }
  for (const auto& lane : lanes) lane->open(receiver);
}

void Endpoint::send(rpc::WorkerKey to, rpc::Message message) {
  rpc::refuse_forked(mark_, base::Location::here());
  const std::shared_ptr<Lane> lane = lane_to(to);
  if (message.is_limited) lane->check_room(message.kind);
  rpc::copy_tensors(message);
  if (lane->push(std::move(message))) return;
  const std::lock_guard lock(mutex_);
  throw left(reachable(to).worker);
}

bool Endpoint::has_room(rpc::WorkerKey to) const noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = peers_.find(to.id);
  return found == peers_.end() || found->second.out == nullptr || found->second.out->has_room();
}

Endpoint::Peer& Endpoint::reachable(rpc::WorkerKey worker) {
  if (is_closed_) throw Error(ErrorKind::Disconnected, worker_.name() + " has closed its agent");
  const auto found = peers_.find(worker.id);
  if (found == peers_.end()) {
    throw Error(ErrorKind::InvalidArgument,
                worker_.name() + " does not know another worker with the id " + std::to_string(worker.id));
  }
  if (!found->second.worker.key().matches(worker)) throw rpc::replaced_error(found->second.worker);
  if (found->second.gone) throw Error(*found->second.gone);
  return found->second;
}

std::shared_ptr<Lane> Endpoint::lane_to(rpc::WorkerKey to) {
  {
    const std::lock_guard lock(mutex_);
    if (const Peer& peer = reachable(to); peer.out != nullptr) return peer.out;
  }
  return connect(to);
}

std::shared_ptr<Lane> Endpoint::connect(rpc::WorkerKey to) {
  std::unique_lock lock(mutex_);
  const std::uint64_t number = reachable(to).number;
  const rpc::WorkerInfo worker = reachable(to).worker;
  lock.unlock();
  try {
    const std::shared_ptr<Endpoint> other = table().find(number);
    if (other == nullptr) throw left(worker);
    if (!other->worker_.key().matches(worker.key())) throw rpc::replaced_error(worker);
    auto lane = other->accept(*this);
    lock.lock();
    return reachable(to).out = std::move(lane);
  } catch (const Error& why) {
    if (lock.owns_lock()) lock.unlock();
    lose(to.id, number, why);
    throw;
  }
}

std::shared_ptr<Lane> Endpoint::accept(const Endpoint& from) {
  std::shared_ptr<Lane> lane, before;
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) throw left(worker_);
    if (from.secret_ != secret_) {
      throw Error(ErrorKind::Disconnected, worker_.name() + " refused the connection: it belongs to another session");
    }
    try {
      Peer& peer = add(from.worker_, from.number_, before);
      if (peer.gone && peer.is_member) renew(peer);
      lane = peer.in;
    } catch (const Error& why) {
      throw Error(ErrorKind::Disconnected, worker_.name() + " refused the connection: " + why.text());
    }
  }
  if (before != nullptr)
    before->end(base::error_or_shortage(ErrorKind::Disconnected, [&] { return rpc::replaced_error(before->from()); }));
  return lane;
}

std::shared_ptr<Lane> Endpoint::note_loss(rpc::WorkerId id, std::uint64_t number, const Error& why) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = peers_.find(id);
  if (found == peers_.end() || found->second.number != number) return nullptr;
  if (!found->second.gone) found->second.gone = copy_of(why);
  return found->second.in;
}

void Endpoint::lose(rpc::WorkerId id, std::uint64_t number, const Error& why) noexcept {
  if (const auto lane = note_loss(id, number, why)) lane->end(copy_of(why));
}

void Endpoint::give_up(rpc::WorkerKey peer, const Error& why) noexcept {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = peers_.find(peer.id);
    if (found == peers_.end() || !found->second.worker.key().matches(peer)) return;
    number = found->second.number;
  }
  const auto other = table().find(number);
  const auto own = note_loss(peer.id, number, why);
  const auto theirs = other != nullptr ? other->note_loss(worker_.id(), number_, why) : nullptr;
  // Both know the reason now: a message that finds its lane ended fails with it.
  for (const auto& lane : {own, theirs}) {
    if (lane != nullptr) lane->end(copy_of(why));
  }
}

void Endpoint::set_end(const std::string& why, int because_of) noexcept {
  const std::lock_guard lock(mutex_);
  base::if_memory([&] { end_ = why; });
  end_because_of_ = because_of;
}

// A lane is closed without the lock, since a message may be received by it.
void Endpoint::close_lanes() noexcept {
  std::unique_lock lock(mutex_);
  for (auto each = peers_.begin(); each != peers_.end();) {
    const rpc::WorkerId id = each->first;
    const std::shared_ptr<Lane> lane = each->second.in;
    lock.unlock();
    lane->close();
    lock.lock();
    each = peers_.upper_bound(id);
  }
  const std::vector<std::shared_ptr<Lane>> past = std::move(past_);
  lock.unlock();
  for (const auto& lane : past) lane->close();
}

// Messages sent before are already in the receivers' lanes, ahead of the notice that this endpoint closes. In a forked
// process these are copies without a reader: nothing to do.
void Endpoint::close() noexcept {
  if (mark_.is_inherited()) return;
  std::string why;
  int because_of = -1;
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    why = std::move(end_);
    because_of = end_because_of_;
    receiver_ = nullptr;
  }
  table().remove(number_);
  close_lanes();
  const Error gone = base::error_or_shortage(ErrorKind::Disconnected, [&] { return left(worker_, why, because_of); });
  std::uint64_t number = 0;
  while (const auto other = table().next(number)) other->lose(worker_.id(), number_, gone);
}

std::map<std::string, std::string> Endpoint::debug_info() const {
  std::map<std::string, std::string> info;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, peer] : peers_) {
    const std::string key = "inproc." + peer.worker.name();
    info[key + ".sent"] = std::to_string(peer.out == nullptr ? 0 : peer.out->counts().pushed);
    info[key + ".received"] = std::to_string(peer.in->counts().received);
  }
  return info;
}

}  // namespace distrun::agents::inproc
