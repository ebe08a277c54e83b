#pragma once
// A bounded set of ids that drops the oldest.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>

namespace distrun::base {

template <class Id, class Hash = std::hash<Id>>
class Recent {
 public:
  explicit Recent(std::size_t most) : most_(most) {}

  // Returns the id that was dropped to make room, if any. If it throws, nothing has changed.
  std::optional<Id> add(const Id& id) {
    const auto [added, is_new] = numbers_.emplace(id, last_ + 1);
    if (!is_new) return std::nullopt;
    try {
      order_.emplace(last_ + 1, id);
    } catch (...) {
      numbers_.erase(added);
      throw;
    }
    ++last_;
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
    for (auto each = order_.begin(); each != order_.end();) {
      if (!predicate(each->second)) {
        ++each;
        continue;
      }
      numbers_.erase(each->second);
      each = order_.erase(each);
    }
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
