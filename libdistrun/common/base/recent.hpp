#pragma once
// A bounded set of ids that drops the oldest.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace distrun::base {

template <class Id, class Hash = std::hash<Id>>
class Recent {
 public:
  explicit Recent(std::size_t most) : most_(most) {}

  // Returns the id that was dropped to make room, if any.
  std::optional<Id> add(const Id& id) {
    if (!numbers_.emplace(id, last_ + 1).second) return std::nullopt;
    order_.emplace(++last_, id);
    if (order_.size() <= most_) return std::nullopt;
    Id forgotten = order_.begin()->second;
    erase(forgotten);
    return forgotten;
  }
  // Returns false if the id was not there.
  bool erase(const Id& id) {
    const auto found = numbers_.find(id);
    if (found == numbers_.end()) return false;
    order_.erase(found->second);
    numbers_.erase(found);
    return true;
  }
  template <class Predicate>
  void erase_if(const Predicate& predicate) {
    std::vector<Id> gone;
    for (const auto& [id, number] : numbers_) {
      if (predicate(id)) gone.push_back(id);
    }
    for (const Id& each : gone) erase(each);
  }
  bool contains(const Id& id) const { return numbers_.count(id) != 0; }
  std::size_t size() const noexcept { return order_.size(); }
  // Oldest first.
  const std::map<std::uint64_t, Id>& order() const noexcept { return order_; }

 private:
  std::size_t most_;
  std::uint64_t last_ = 0;
  std::unordered_map<Id, std::uint64_t, Hash> numbers_;
  std::map<std::uint64_t, Id> order_;
};

}  // namespace distrun::base
