#include <distrun/runtime/rpc/values/value.hpp>

#include <algorithm>
#include <array>

namespace distrun::rpc {
namespace {

// Nesting level that the thread is copying or destroying.
[[gnu::tls_model("initial-exec")]] constinit thread_local int levels_now = 0;

}  // namespace

// Adds one level within a scope, or sets the level.
class LevelScope {
 public:
  LevelScope() noexcept : before_(levels_now++) {}
  explicit LevelScope(int levels) noexcept : before_(std::exchange(levels_now, levels)) {}
  ~LevelScope() { levels_now = before_; }
  LevelScope(const LevelScope&) = delete;
  LevelScope& operator=(const LevelScope&) = delete;
  bool is_deep() const noexcept { return before_ >= kDepthMax; }

 private:
  const int before_;
};

namespace {

constexpr std::array<std::string_view, 16> kNames{"None",   "bool",       "int",      "float", "str",   "Tensor",
                                                  "Device", "WorkerInfo", "function", "list",  "tuple", "map",
                                                  "record", "object",     "Future",   "RRef"};
static_assert(kNames.size() == std::variant_size_v<Value::Held>);

struct Copy {
  const Value* from;
  Value* to;  // none until copied; its address is stable
};
using Copies = std::vector<Copy>;  // that remain to be made

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

// Fast path for ints, the most common items.
void append(std::vector<Value>& to, const Value& item) {
  if (const auto* const number = item.get_if<std::int64_t>()) {
    to.emplace_back(*number);
  } else {
    to.push_back(item);
  }
}
void append(std::vector<std::pair<Value, Value>>& to, const std::pair<Value, Value>& entry) { to.push_back(entry); }

// Requires that `to` is empty.
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

// Returns the last item, or the value of a map's last entry. There must be one.
Value& last_place(Value& value) noexcept {
  switch (value.kind()) {
    case Kind::List: return value.get_if<List>()->items.back();
    case Kind::Tuple: return value.get_if<Tuple>()->items.back();
    case Kind::Record: return value.get_if<Record>()->fields.back();
    default: return value.get_if<Map>()->items.back().second;
  }
}

// Returns the item at last_place(). If only the key of a map's entry has items, swaps key and value first.
Value& last_item(Value& value) noexcept {
  if (Map* const map = value.get_if<Map>()) {
    auto& [key, mapped] = map->items.back();
    if (!mapped.has_items()) std::swap(key, mapped);
  }
  return last_place(value);
}

// Removes the last item. If the key of a map's last entry has items, removes only the entry's value.
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

bool has_items(const Value& value) noexcept { return value.has_items(); }

bool is_nested(const Value& value) noexcept {
  const auto any_of = [](const ValueList& items) { return std::any_of(items.begin(), items.end(), has_items); };
  switch (value.kind()) {
    case Kind::List: return any_of(value.get_if<List>()->items);
    case Kind::Tuple: return any_of(value.get_if<Tuple>()->items);
    case Kind::Record: return any_of(value.get_if<Record>()->fields);
    case Kind::Map: break;
    default: return false;
  }
  const ValueEntries& entries = value.get_if<Map>()->items;
  return std::any_of(entries.begin(), entries.end(),
                     [](const auto& each) { return each.first.has_items() || each.second.has_items(); });
}

// Takes a value with items.
bool is_empty(const Value& value) noexcept {
  switch (value.kind()) {
    case Kind::List: return value.get_if<List>()->items.empty();
    case Kind::Tuple: return value.get_if<Tuple>()->items.empty();
    case Kind::Record: return value.get_if<Record>()->fields.empty();
    default: return value.get_if<Map>()->items.empty();
  }
}

// Removes items from the end up to one that is nested. Returns whether there is one.
bool ends_nested(Value& value) noexcept {
  while (!is_empty(value)) {
    if (is_nested(last_item(value))) return true;
    drop_last(value);
  }
  return false;
}

// Destroys nested items without recursion and without allocating: the path back is stored in the slots of the removed
// items. `current` is emptied from its end. It was the last item of `parent`; the last item of `parent` is now the
// parent's own parent, and so on.
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
  this->clear();  // while the level is counted
}

template class Items<Value>;
template class Items<std::pair<Value, Value>>;

}  // namespace distrun::rpc
