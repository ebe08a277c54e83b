#pragma once
// The contexts that are over, so that late messages don't recreate them. A worker numbers its contexts in sequence, and
// most end in order, so ranges are stored.
#include <map>

#include <distrun/runtime/dist_autograd/message_nodes.hpp>

namespace distrun::dist_autograd {

class ReleasedIds {
 public:
  // Beyond the limit, the range of the lowest ids is forgotten.
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
