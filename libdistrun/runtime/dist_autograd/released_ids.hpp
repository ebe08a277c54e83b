#pragma once
// Which contexts are over, so that nothing that comes late brings one back. A worker counts the contexts that it opens,
// and most go in their order: what is kept are ranges.
#include <map>

#include <distrun/runtime/dist_autograd/message_nodes.hpp>

namespace distrun::dist_autograd {

class ReleasedIds {
 public:
  // What has the lowest ids is forgotten for more.
  explicit ReleasedIds(std::size_t ranges_most) : most_(ranges_most) {}

  void add(ContextId id) {
    const auto above = ranges_.upper_bound(id);
    const bool joins_above = above != ranges_.end() && above->first == id + 1;
    if (above != ranges_.begin()) {
      ContextId& last_below = std::prev(above)->second;
      if (id <= last_below) return;
      if (id == last_below + 1) {
        last_below = joins_above ? above->second : id;
        if (joins_above) ranges_.erase(above);
        return;
      }
    }
    ranges_.emplace(id, joins_above ? above->second : id);
    if (joins_above) ranges_.erase(above);
    if (ranges_.size() > most_) ranges_.erase(ranges_.begin());
  }
  bool contains(ContextId id) const {
    const auto above = ranges_.upper_bound(id);
    return above != ranges_.begin() && id <= std::prev(above)->second;
  }
  std::size_t ranges() const noexcept { return ranges_.size(); }

 private:
  const std::size_t most_;
  std::map<ContextId, ContextId> ranges_;  // the first of each, and its last
};

}  // namespace distrun::dist_autograd
