#include <distrun/runtime/rpc/session/detail/roster.hpp>

#include <algorithm>

namespace distrun::rpc {

bool is_same_member(const Member& one, const Member& other) noexcept {
  return one.id == other.id && one.incarnation == other.incarnation;
}

namespace {

bool has_place_of(const Member& one, const Member& other) noexcept {
  return one.id == other.id || one.name == other.name;
}

}  // namespace

// A join may arrive after its worker has left, if it was in flight.
bool Roster::has(const Member& member) const {
  const auto removed = removed_.find(member.id);
  if (removed != removed_.end() && removed->second >= member.incarnation) return true;
  return std::any_of(known_.begin(), known_.end(), [&](const auto& each) {
    return has_place_of(each.second, member) && each.second.order >= member.order;
  });
}

std::vector<Member> Roster::predecessors_of(const Member& member) const {
  std::vector<Member> found;
  for (const auto& [id, each] : known_) {
    if (has_place_of(each, member)) found.push_back(each);
  }
  return found;
}

std::optional<Member> Roster::find(WorkerKey key) const {
  const auto found = known_.find(key.id);
  if (found == known_.end() || !worker_of(found->second).key().matches(key)) return std::nullopt;
  return found->second;
}

bool Roster::remove(WorkerKey key) {
  Incarnation& latest = removed_[key.id];
  latest = std::max(latest, key.incarnation);
  return find(key) && known_.erase(key.id) != 0;
}

}  // namespace distrun::rpc
