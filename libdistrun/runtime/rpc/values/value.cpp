#include <distrun/runtime/rpc/values/value.hpp>

#include <algorithm>
#include <array>

#include <distrun/runtime/rpc/values/nested.hpp>

namespace distrun::rpc {
namespace {

// Levels of items in each other that the thread copies, or destroys.
[[gnu::tls_model("initial-exec")]] constinit thread_local int levels_now = 0;

}  // namespace

// For a scope: one level more, or that many.
class LevelScope {
 public:
  LevelScope() noexcept : before_(levels_now++) {}
  explicit LevelScope(int levels) noexcept : before_(std::exchange(levels_now, levels)) {}
  ~LevelScope() { levels_now = before_; }
  LevelScope(const LevelScope&) = delete;
  LevelScope& operator=(const LevelScope&) = delete;
  bool is_deep() const noexcept { return before_ >= kRecursionMax; }

 private:
  const int before_;
};

namespace {

constexpr std::array<std::string_view, 16> kNames{"None",   "bool",       "int",      "float", "str",   "Tensor",
                                                  "Device", "WorkerInfo", "function", "list",  "tuple", "map",
                                                  "record", "object",     "Future",   "RRef"};
static_assert(kNames.size() == std::variant_size_v<Value::Held>);

// Pairs that are still to be compared.
using Pairs = std::vector<std::pair<const Value*, const Value*>>;

template <class T>
bool same_held(const T& left, const T& right) {
  if constexpr (std::is_same_v<T, Tensor>) {
    return left.is_same(right);
  } else if constexpr (std::is_same_v<T, Instance>) {
    return left.object == right.object;
  } else if constexpr (std::is_same_v<T, future::AnyFuture>) {
    return left.state() == right.state();
  } else if constexpr (requires { left == right; }) {
    return left == right;
  } else {
    return false;  // has items: same_items() compares them
  }
}

// Of those with items it compares the kinds alone, and puts them to `left_over`.
bool same_level(const Value& left, const Value& right, Pairs& left_over) {
  if (left.kind() != right.kind()) return false;
  if (left.has_items()) return left_over.emplace_back(&left, &right), true;
  return std::visit([&](const auto& held) { return same_held(held, *right.get_if<std::decay_t<decltype(held)>>()); },
                    left.held());
}

// Both are of the same kind.
bool same_items(const Value& left, const Value& right, Pairs& left_over) {
  const auto all_same = [&](const ValueList& ours, const ValueList& theirs) {
    return std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                      [&](const Value& a, const Value& b) { return same_level(a, b, left_over); });
  };
  switch (left.kind()) {
    case Kind::List: return all_same(left.get_if<List>()->items, right.get_if<List>()->items);
    case Kind::Tuple: return all_same(left.get_if<Tuple>()->items, right.get_if<Tuple>()->items);
    case Kind::Record: return all_same(left.get_if<Record>()->fields, right.get_if<Record>()->fields);
    default: break;
  }
  const auto &ours = left.get_if<Map>()->items, &theirs = right.get_if<Map>()->items;
  return std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(), [&](const auto& a, const auto& b) {
    return same_level(a.first, b.first, left_over) && same_level(a.second, b.second, left_over);
  });
}

struct Copy {
  const Value* from;
  Value* to;  // none until then; stays where it is
};
using Copies = std::vector<Copy>;  // that are still to be made

void copy_item(const Value& from, Value& to, Copies& later) {
  from.has_items() ? later.push_back({&from, &to}) : void(to = from);
}
void copy_level(const ValueList& from, ValueList& to, Copies& later) {
  to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) copy_item(from[i], to[i], later);
}
void copy_level(const ValueEntries& from, ValueEntries& to, Copies& later) {
  to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    copy_item(from[i].first, to[i].first, later);
    copy_item(from[i].second, to[i].second, later);
  }
}

// Most lists are of numbers.
void append(std::vector<Value>& to, const Value& item) {
  if (const auto* const number = item.get_if<std::int64_t>()) {
    to.emplace_back(*number);
  } else {
    to.push_back(item);
  }
}
void append(std::vector<std::pair<Value, Value>>& to, const std::pair<Value, Value>& entry) { to.push_back(entry); }

// `to` is empty.
template <class Item>
void copy_deep(const Items<Item>& from, Items<Item>& to) {
  Copies later;
  copy_level(from, to, later);
  while (!later.empty()) {
    const Copy next = later.back();
    later.pop_back();
    Value::Held& held = next.to->held();
    switch (next.from->kind()) {
      case Kind::List: copy_level(next.from->get_if<List>()->items, held.emplace<List>().items, later); break;
      case Kind::Tuple: copy_level(next.from->get_if<Tuple>()->items, held.emplace<Tuple>().items, later); break;
      case Kind::Record: copy_level(next.from->get_if<Record>()->fields, held.emplace<Record>().fields, later); break;
      default: copy_level(next.from->get_if<Map>()->items, held.emplace<Map>().items, later);
    }
  }
}

// The place of the last item, of a map's last entry that of its value. There must be one.
Value& last_place(Value& value) noexcept {
  switch (value.kind()) {
    case Kind::List: return value.get_if<List>()->items.back();
    case Kind::Tuple: return value.get_if<Tuple>()->items.back();
    case Kind::Record: return value.get_if<Record>()->fields.back();
    default: return value.get_if<Map>()->items.back().second;
  }
}

// What stands there. An entry whose key alone has items is turned round before.
Value& last_item(Value& value) noexcept {
  if (Map* const map = value.get_if<Map>()) {
    auto& [key, mapped] = map->items.back();
    if (!mapped.has_items()) std::swap(key, mapped);
  }
  return last_place(value);
}

// Removes the last item; of an entry of a map only its half, if the other one has items.
void drop_last(Value& value) noexcept {
  switch (value.kind()) {
    case Kind::List: return value.get_if<List>()->items.pop_back();
    case Kind::Tuple: return value.get_if<Tuple>()->items.pop_back();
    case Kind::Record: return value.get_if<Record>()->fields.pop_back();
    default: break;
  }
  auto& entries = value.get_if<Map>()->items;
  entries.back().second = Value();
  if (!entries.back().first.has_items()) entries.pop_back();
}

bool is_nested(const Value& value) {
  return any_item(value, [](const Value& each) { return each.has_items(); });
}

bool has_any_item(const Value& value) {
  return any_item(value, [](const Value&) { return true; });
}

// Drops the last items up to one that is nested. Returns whether there is one.
bool ends_nested(Value& value) noexcept {
  while (has_any_item(value)) {
    if (is_nested(last_item(value))) return true;
    drop_last(value);
  }
  return false;
}

// Takes no memory: the way back is kept in the places of what was taken out. `current` is what is emptied, from its
// end; it was the last item of `parent`, whose last item is now the parent of that, and so on.
void take_apart(Value current) noexcept {
  const LevelScope from_the_top(0);
  Value parent;
  for (;;) {
    if (ends_nested(current)) {
      Value& place = last_item(current);
      Value next = std::exchange(place, std::move(parent));
      parent = std::move(current);
      current = std::move(next);
    } else if (parent.is_none()) {
      return;
    } else {
      current = std::move(parent);
      parent = std::exchange(last_place(current), Value());
      drop_last(current);
    }
  }
}
void take_apart(ValueList& items) noexcept {
  if (!items.empty()) take_apart(Value(List{std::move(items)}));
}
void take_apart(ValueEntries& entries) noexcept {
  if (!entries.empty()) take_apart(Value(Map{std::move(entries)}));
}

}  // namespace

std::string_view name_of(Kind kind) noexcept { return kNames[static_cast<std::size_t>(kind)]; }

template <class Item>
Items<Item>::Items(const Items& other) : Base() {
  const LevelScope level;
  if (level.is_deep()) {
    copy_deep(other, *this);
  } else {
    this->reserve(other.size());
    for (const Item& each : other) append(*this, each);
  }
}

template <class Item>
Items<Item>::~Items() {
  const LevelScope level;
  if (level.is_deep()) take_apart(*this);
  this->clear();  // while the level counts
}

template class Items<Value>;
template class Items<std::pair<Value, Value>>;

std::size_t levels_of(const Value& value) {
  std::size_t deepest = 0;
  std::vector<std::pair<const Value*, std::size_t>> left{{&value, 0}};
  while (!left.empty()) {
    const auto [next, level] = left.back();
    left.pop_back();
    deepest = std::max(deepest, level);
    any_item(*next, [&, below = level + 1](const Value& each) { return left.emplace_back(&each, below), false; });
  }
  return deepest;
}

bool holds_instance(const Value& value) noexcept {
  return any_leaf(value, [](const Value& each) { return each.kind() == Kind::Instance; });
}

bool same(const Value& left, const Value& right) {
  Pairs left_over;
  if (!same_level(left, right, left_over)) return false;
  while (!left_over.empty()) {
    const auto [ours, theirs] = left_over.back();
    left_over.pop_back();
    if (!same_items(*ours, *theirs, left_over)) return false;
  }
  return true;
}

}  // namespace distrun::rpc
