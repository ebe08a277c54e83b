#pragma once
// Traverses values of any nesting depth, even if the depth would overflow the stack of a thread. A traversal recurs,
// which is fast, for kRecursionMax levels, and keeps deeper values in a list.
#include <algorithm>
#include <vector>

#include <distrun/runtime/rpc/values/value.hpp>

namespace distrun::rpc {

inline constexpr int kRecursionMax = kDepthMax;

// Calls `ask` for each item of a list, tuple or record, or each key and value of a map, in order, until it returns
// true. Returns whether it did. Other values have no items.
template <class Ask>
bool any_item(const Value& value, const Ask& ask) {
  const auto any_of = [&](const ValueList& items) { return std::any_of(items.begin(), items.end(), ask); };
  switch (value.kind()) {
    case Kind::List: return any_of(value.get_if<List>()->items);
    case Kind::Tuple: return any_of(value.get_if<Tuple>()->items);
    case Kind::Record: return any_of(value.get_if<Record>()->fields);
    case Kind::Map: {
      const auto& entries = value.get_if<Map>()->items;
      return std::any_of(entries.begin(), entries.end(),
                         [&](const auto& each) { return ask(each.first) || ask(each.second); });
    }
    default: return false;
  }
}

// Like any_leaf(), without recursion.
template <class Ask>
bool any_deep_leaf(const Value& value, const Ask& ask) {
  std::vector<const Value*> left{&value};  // a stack: the last is the next to visit
  while (!left.empty()) {
    const Value& next = *left.back();
    left.pop_back();
    if (!next.has_items()) {
      if (ask(next)) return true;
      continue;
    }
    const auto count = static_cast<std::ptrdiff_t>(left.size());
    any_item(next, [&](const Value& each) { return left.push_back(&each), false; });
    std::reverse(left.begin() + count, left.end());
  }
  return false;
}

// Calls `ask` for each value, at any depth, that is no list, tuple, record or map (possibly `value` itself), in order,
// until it returns true. Returns whether it did.
template <class Ask>
bool any_leaf(const Value& value, const Ask& ask, int depth = 0) {
  if (!value.has_items()) return ask(value);
  if (depth >= kRecursionMax) return any_deep_leaf(value, ask);
  return any_item(value, [&](const Value& each) { return any_leaf(each, ask, depth + 1); });
}

// Returns the number of nested levels: 0 for a number, 1 for a list of numbers.
std::size_t levels_of(const Value& value);  // in inspect.cpp

}  // namespace distrun::rpc
