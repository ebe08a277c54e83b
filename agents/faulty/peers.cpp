#include <agents/faulty/peers.hpp>

namespace distrun::agents::faulty {

PeerPtr Peers::find(rpc::WorkerKey key) const {
  const std::shared_lock lock(mutex_);
  const auto found = all_.find(key.id);
  return found == all_.end() || !found->second->record.worker.key().matches(key) ? nullptr : found->second;
}

PeerPtr Peers::get(const rpc::WorkerInfo& worker) {
  if (PeerPtr known = find(worker.key())) return known;
  auto made = std::make_shared<Peer>(rpc::WorkerRecord{worker, ""});
  const std::unique_lock lock(mutex_);
  PeerPtr& peer = all_[worker.id()];
  if (peer == nullptr) return peer = std::move(made);
  const rpc::WorkerInfo& known = peer->record.worker;
  if (known.key().matches(worker.key())) return peer;
  // Late messages of an earlier incarnation are still received, but never attributed to the newer one.
  return known.incarnation() > worker.incarnation() ? made : peer = std::move(made);
}

bool Peers::add(const rpc::WorkerRecord& record) {
  const std::unique_lock lock(mutex_);
  PeerPtr& peer = all_[record.worker.id()];
  const bool is_same =
      peer != nullptr && peer->record.worker.matches(record.worker) && peer->record.address == record.address;
  if (is_same && peer->is_cut) return false;
  if (is_same && !peer->is_lost) return true;
  peer = std::make_shared<Peer>(record);
  return true;
}

void Peers::remove(rpc::WorkerKey key) noexcept {
  const std::unique_lock lock(mutex_);
  const auto found = all_.find(key.id);
  if (found == all_.end() || !found->second->record.worker.key().matches(key)) return;
  found->second->is_lost = true;  // other holders of the pointer report no loss
  all_.erase(found);
}

std::vector<rpc::WorkerInfo> Peers::cut() const {
  std::vector<rpc::WorkerInfo> cut;
  const std::shared_lock lock(mutex_);
  for (const auto& [id, peer] : all_) {
    if (peer->is_cut) cut.push_back(peer->record.worker);
  }
  return cut;
}

void Peers::mark_cut(Peer& peer) noexcept {
  peer.is_cut = true;
  has_cut_ = true;
}

PeerPtr Peers::begin_cut(rpc::WorkerKey key) {
  const PeerPtr peer = find(key);
  if (peer == nullptr || peer->is_lost || peer->is_cut.exchange(true)) return nullptr;
  has_cut_ = true;
  return peer;
}

base::Error cut_error(const rpc::WorkerInfo& worker) {
  return base::Error(base::ErrorKind::Disconnected,
                     worker.name() + " is gone: the connection was cut, as the fault plan requires");
}

}  // namespace distrun::agents::faulty
