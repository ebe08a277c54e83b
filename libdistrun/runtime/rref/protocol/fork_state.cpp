// Views of a ForkProtocol's state.
#include <algorithm>

#include <distrun/runtime/rref/protocol/fork_protocol.hpp>

namespace distrun::rref {
namespace {

template <class Tag>
std::string brief_of(const GlobalId<Tag>& id) {
  return std::to_string(id.created_on) + "." + std::to_string(id.local_id);
}

template <class Map>
auto sorted(const Map& map) {
  std::vector<const typename Map::value_type*> all;
  for (const auto& each : map) all.push_back(&each);
  std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
  return all;
}

template <class Id>
std::string text_of(const char* name, const base::Recent<Id, HashId>& ids) {
  std::vector<Id> all;
  for (const auto& [number, id] : ids.order()) all.push_back(id);
  std::sort(all.begin(), all.end());
  std::string text;
  for (const auto& each : all) text += std::string(text.empty() ? name : " ") + brief_of(each);
  return text.empty() ? text : text + "\n";
}

std::string text_of(const ForkMessage& message) {
  return std::to_string(static_cast<int>(message.kind)) + "#" + std::to_string(message.number) + ":" +
         brief_of(message.rref) + "/" + brief_of(message.fork);
}

}  // namespace

ForkCounts ForkProtocol::counts() const {
  ForkCounts counts;
  counts.owned = owned_.size();
  for (const auto& [r, owned] : owned_) counts.forks += owned.forks.size();
  counts.users = users_.size();
  for (const auto& [f, user] : users_) counts.pending_users += user.is_confirmed ? 0 : 1;
  counts.children = children_.size();
  for (const auto& [peer, outbox] : outboxes_) counts.unacknowledged += outbox.waiting().size();
  counts.early = early_.size();
  return counts;
}

std::map<ForkId, WorkerId> ForkProtocol::holders_of(RRefId r) const {
  const auto owned = owned_.find(r);
  return owned == owned_.end() ? std::map<ForkId, WorkerId>() : owned->second.forks;
}

bool ForkProtocol::is_confirmed(ForkId f) const {
  const auto user = users_.find(f);
  return user != users_.end() && user->second.is_confirmed;
}

bool ForkProtocol::is_noted(RRefId r, ForkId f) const {
  const auto owned = owned_.find(r);
  return owned != owned_.end() && owned->second.forks.count(f) != 0;
}

std::vector<RRefId> ForkProtocol::owned() const {
  std::vector<RRefId> all;
  for (const auto& [r, owned] : owned_) all.push_back(r);
  std::sort(all.begin(), all.end());
  return all;
}

std::map<ForkId, WorkerId> ForkProtocol::children() const {
  std::map<ForkId, WorkerId> all;
  for (const auto& [f, child] : children_) all.emplace(f, child.to);
  return all;
}

std::multimap<ForkId, ForkId> ForkProtocol::parents_of_children() const {
  std::multimap<ForkId, ForkId> all;
  for (const auto& [f, child] : children_) all.emplace(child.parent, f);
  return all;
}

std::string ForkProtocol::text() const {
  std::string text = "worker " + std::to_string(self_) + ", next id " + std::to_string(next_id_) + "\n";
  for (const auto* each : sorted(owned_)) {
    text += "owns " + brief_of(each->first) + (each->second.is_created ? "" : ", not created yet");
    for (const auto& [f, holder] : each->second.forks) text += " " + brief_of(f) + "@" + std::to_string(holder);
    text += "\n";
  }
  for (const auto* each : sorted(users_)) {
    const User& user = each->second;
    text += "holds " + brief_of(each->first) + " of " + brief_of(user.rref) + "@" + std::to_string(user.owner) +
            " from " + std::to_string(user.parent) + (user.is_confirmed ? "" : ", pending") +
            (user.is_dropped ? ", dropped" : "") + ", children " + std::to_string(user.children) + "\n";
  }
  for (const auto* each : sorted(children_)) {
    text += "child " + brief_of(each->first) + " of " + brief_of(each->second.parent) + " to " +
            std::to_string(each->second.to) + "\n";
  }
  text += text_of("dead ", dead_) + text_of("early ", early_);
  for (const auto& [peer, why] : lost_) text += "lost " + std::to_string(peer) + "\n";
  for (const auto& [peer, outbox] : outboxes_) {
    text += "to " + std::to_string(peer) + " up to #" + std::to_string(outbox.last());
    for (const auto& [number, message] : outbox.waiting()) text += " " + text_of(message);
    text += "\n";
  }
  for (const auto& [peer, inbox] : inboxes_) {
    text += "from " + std::to_string(peer) + " " + std::to_string(inbox.all_up_to());
    for (const std::uint64_t each : inbox.beyond()) text += " " + std::to_string(each);
    text += "\n";
  }
  return text;
}

std::string ForkProtocol::contradiction() const {
  std::map<ForkId, int> children;
  for (const auto& [f, child] : children_) ++children[child.parent];
  for (const auto& [f, user] : users_) {
    if (user.children != children[f]) return "the children of " + brief_of(f) + " are not as many as it counts";
    if (user.is_dropped && user.is_confirmed && user.children == 0) return brief_of(f) + " is over, and held";
  }
  for (const auto& [r, owned] : owned_) {
    if (owned.forks.empty()) return brief_of(r) + " is kept for nobody";
    if (dead_.contains(r)) return brief_of(r) + " is owned and dead";
  }
  return "";
}

}  // namespace distrun::rref
