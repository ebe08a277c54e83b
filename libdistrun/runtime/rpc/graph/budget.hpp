#pragma once
// The steps that one run of a graph function may take, including the functions that it calls. Each executed node is one
// step. Building or copying lists costs further steps per value, which are charged in advance.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/graph/graph.hpp>

namespace distrun::rpc::detail {

// total number of values in a list, nested ones included
inline constexpr std::uint64_t kListItemsMax = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kStepsOfItem = 8;
inline constexpr std::uint64_t kStepsOfPoll = 1024;

// Returns the items of a list or a tuple; null for other values.
inline const ValueList* list_in(const Value& value) noexcept {
  if (const auto* const list = value.get_if<List>()) return &list->items;
  if (const auto* const tuple = value.get_if<Tuple>()) return &tuple->items;
  return nullptr;
}

// The number of values in a value, and the depth of their nesting.
struct Extent {
  std::uint64_t items = 1;
  int depth = 1;

  void add(const Extent& inner) {
    items += inner.items;
    depth = std::max(depth, inner.depth + 1);
  }
};

inline Extent extent_of(const Value& value) {
  Extent extent;
  if (const ValueList* const items = list_in(value)) {
    for (const Value& item : *items) extent.add(extent_of(item));
  } else if (const auto* const map = value.get_if<Map>()) {
    for (const auto& [key, mapped] : map->items) {
      extent.add(extent_of(key));
      extent.add(extent_of(mapped));
    }
  } else if (const auto* const text = value.get_if<std::string>()) {
    extent.items += text->size() / sizeof(Value);
  }
  return extent;
}

class Budget {
 public:
  // `name` is the function's, for errors; `poll` may be empty. Both must outlive the budget.
  Budget(const std::string& name, std::uint64_t steps, const std::function<void()>& poll)
      : name_(name), steps_(steps), poll_(poll) {}

  void take(std::uint64_t steps) {
    if (steps > steps_ - taken_) {
      throw Error(ErrorKind::Overloaded,
                  "graph function " + name_ + " takes more than " + std::to_string(steps_) + " steps");
    }
    taken_ += steps;
    if (taken_ < next_poll_) return;
    next_poll_ = taken_ + kStepsOfPoll;
    if (poll_) poll_();
  }

  // Charges for copies of these registers. Call before copying them.
  Extent admit(const ValueList& registers, const std::vector<graph::Register>& used) {
    Extent together;
    for (const graph::Register each : used) together.add(extent_of(registers[each]));
    admit(together, used.size() + 1);
    return together;
  }
  void admit(const Value& value) { admit(extent_of(value), 1); }

 private:
  // `given`: how many of the items the node's own step already covers.
  void admit(const Extent& extent, std::size_t given) {
    take((extent.items - given) * kStepsOfItem);
    if (extent.items <= kListItemsMax && extent.depth <= kDepthMax) return;
    throw Error(ErrorKind::Overloaded, "graph function " + name_ + " makes something of " +
                                           std::to_string(extent.items) + " values, " + std::to_string(extent.depth) +
                                           " levels deep");
  }

  const std::string& name_;
  const std::uint64_t steps_;
  const std::function<void()>& poll_;
  std::uint64_t taken_ = 0;
  std::uint64_t next_poll_ = kStepsOfPoll;
};

}  // namespace distrun::rpc::detail
