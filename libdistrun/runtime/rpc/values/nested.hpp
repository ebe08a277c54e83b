#pragma once
// Walks over values that are nested to any depth: a program may build lists in lists until its memory ends, and the
// stack of a thread ends long before. Up to kRecursionMax levels a walk recurs, which is quick; what is deeper waits in
// a list.
#include <algorithm>
#include <vector>

#include <distrun/runtime/rpc/values/value.hpp>

namespace distrun::rpc {

inline constexpr int kRecursionMax = kDepthMax;

// Asks of each item of a list, tuple or record, and of each key and value of a map, in their order, until an answer is
// true. Returns whether one was. Other values have no items.
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

// As any_leaf(), with no recursion.
template <class Ask>
bool any_deep_leaf(const Value& value, const Ask& ask) {
  std::vector<const Value*> left{&value};  // the next is the last
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

// Asks of each value in `value`, or of it, that is no list, tuple, record or map, in their order, until an answer is
// true. Returns whether one was.
template <class Ask>
bool any_leaf(const Value& value, const Ask& ask, int depth = 0) {
  if (!value.has_items()) return ask(value);
  if (depth >= kRecursionMax) return any_deep_leaf(value, ask);
  return any_item(value, [&](const Value& each) { return any_leaf(each, ask, depth + 1); });
}

// Levels of items below it: 0 of a number, 1 of a list of numbers.
std::size_t levels_of(const Value& value);  // in inspect.cpp

}  // namespace distrun::rpc
