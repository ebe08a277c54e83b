#pragma once
// Numbers that are remembered for a while: the newest so many.
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_set>

namespace distrun::dist_autograd {

class Remembered {
 public:
  explicit Remembered(std::size_t most) : most_(most) {}
  // The one that is forgotten for it, if there is one.
  std::optional<std::int64_t> add(std::int64_t number) {
    if (!numbers_.insert(number).second) return std::nullopt;
    order_.push_back(number);
    if (order_.size() <= most_) return std::nullopt;
    const std::int64_t forgotten = order_.front();
    numbers_.erase(forgotten);
    order_.pop_front();
    return forgotten;
  }
  bool contains(std::int64_t number) const { return numbers_.count(number) != 0; }

 private:
  const std::size_t most_;
  std::unordered_set<std::int64_t> numbers_;
  std::deque<std::int64_t> order_;
};

}  // namespace distrun::dist_autograd
