// The loss of a worker: a ForkProtocol lists all that it ends, and makes room for that, before anything changes.
#include <algorithm>
#include <utility>

#include <distrun/runtime/rref/protocol/fork_protocol.hpp>

namespace distrun::rref {

ForkProtocol::Loss ForkProtocol::list_loss(WorkerId peer, const std::string& why) const {
  Loss loss;
  std::map<WorkerId, std::string> one{{peer, why}};
  loss.lost = one.extract(peer);
  for (const auto& [r, owned] : owned_) {
    if (!owned.is_created && r.created_on == peer) loss.uncreated.push_back({r, why});
    const bool is_held =
        std::any_of(owned.forks.begin(), owned.forks.end(), [&](const auto& each) { return each.second != peer; });
    if (!is_held) loss.empty.push_back(r);
  }
  for (const auto& [f, user] : users_) {
    if (user.owner == peer) loss.users.push_back({f, why});
  }
  for (const auto& [f, child] : children_) {
    if (child.to == peer) loss.children.push_back(f);
  }
  std::sort(loss.empty.begin(), loss.empty.end());
  std::sort(loss.users.begin(), loss.users.end(), [](const auto& a, const auto& b) { return a.fork < b.fork; });
  std::sort(loss.children.begin(), loss.children.end());
  return loss;
}

void ForkProtocol::prepare(const Loss& loss) {
  make_room({.sends = 2 * loss.users.size() + loss.children.size(),
             .failed = loss.users.size(),
             .released = loss.empty.size(),
             .uncreated = loss.uncreated.size()});
  bury_all(loss);
}

// Some may not be released, since they are not created yet. Such a reference is not remembered.
void ForkProtocol::bury_all(const Loss& loss) {
  std::vector<RRefId> buried;
  buried.reserve(loss.empty.size());
  try {
    for (const RRefId& r : loss.empty) {
      if (owned_.at(r).is_created && bury(r)) buried.push_back(r);
    }
  } catch (...) {
    for (const RRefId& r : buried) dead_.erase(r);
    throw;
  }
}

}  // namespace distrun::rref
