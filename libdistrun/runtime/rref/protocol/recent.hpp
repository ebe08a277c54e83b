#pragma once
// Ids that are remembered for a while: the newest so many.
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include <distrun/runtime/rref/protocol/id.hpp>

namespace distrun::rref {

template <class Id>
class Recent {
 public:
  explicit Recent(std::size_t most) : most_(most) {}

  void add(const Id& id) {
    if (!numbers_.emplace(id, last_ + 1).second) return;
    order_.emplace(++last_, id);
    if (order_.size() > most_) erase(Id(order_.begin()->second));
  }
  // False: it was not there.
  bool erase(const Id& id) {
    const auto found = numbers_.find(id);
    if (found == numbers_.end()) return false;
    order_.erase(found->second);
    numbers_.erase(found);
    return true;
  }
  void erase_made_by(WorkerId worker) {
    std::vector<Id> gone;
    for (const auto& [id, number] : numbers_) {
      if (id.created_on == worker) gone.push_back(id);
    }
    for (const Id& each : gone) erase(each);
  }
  bool contains(const Id& id) const { return numbers_.count(id) != 0; }
  std::size_t size() const noexcept { return order_.size(); }
  // From the oldest.
  const std::map<std::uint64_t, Id>& order() const noexcept { return order_; }

 private:
  std::size_t most_;
  std::uint64_t last_ = 0;
  std::unordered_map<Id, std::uint64_t, HashId> numbers_;
  std::map<std::uint64_t, Id> order_;
};

}  // namespace distrun::rref
