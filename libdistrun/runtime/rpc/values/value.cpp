#include <distrun/runtime/rpc/values/value.hpp>

#include <algorithm>
#include <array>

namespace distrun::rpc {
namespace {

constexpr std::array<std::string_view, 16> kNames{"None",   "bool",       "int",      "float", "str",   "Tensor",
                                                  "Device", "WorkerInfo", "function", "list",  "tuple", "map",
                                                  "record", "object",     "Future",   "RRef"};
static_assert(kNames.size() == std::variant_size_v<Value::Held>);

bool all_same(const ValueList& left, const ValueList& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), same);
}

bool same_entries(const Map& left, const Map& right) {
  return std::equal(left.items.begin(), left.items.end(), right.items.begin(), right.items.end(),
                    [](const auto& a, const auto& b) { return same(a.first, b.first) && same(a.second, b.second); });
}

template <class T>
bool same_held(const T& left, const T& right) {
  if constexpr (std::is_same_v<T, Tensor>) {
    return left.is_same(right);
  } else if constexpr (std::is_same_v<T, Map>) {
    return same_entries(left, right);
  } else if constexpr (std::is_same_v<T, List> || std::is_same_v<T, Tuple>) {
    return all_same(left.items, right.items);
  } else if constexpr (std::is_same_v<T, Record>) {
    return all_same(left.fields, right.fields);
  } else if constexpr (std::is_same_v<T, Instance>) {
    return left.object == right.object;
  } else if constexpr (std::is_same_v<T, future::AnyFuture>) {
    return left.state() == right.state();
  } else {
    return left == right;
  }
}

}  // namespace

std::string_view name_of(Kind kind) noexcept { return kNames[static_cast<std::size_t>(kind)]; }

bool holds_instance(const Value& value) noexcept {
  const auto any_of = [](const ValueList& items) { return std::any_of(items.begin(), items.end(), holds_instance); };
  switch (value.kind()) {
    case Kind::Instance: return true;
    case Kind::List: return any_of(value.get_if<List>()->items);
    case Kind::Tuple: return any_of(value.get_if<Tuple>()->items);
    case Kind::Record: return any_of(value.get_if<Record>()->fields);
    case Kind::Map: {
      const auto& entries = value.get_if<Map>()->items;
      return std::any_of(entries.begin(), entries.end(),
                         [](const auto& each) { return holds_instance(each.first) || holds_instance(each.second); });
    }
    default: return false;
  }
}

bool same(const Value& left, const Value& right) {
  if (left.kind() != right.kind()) return false;
  return std::visit([&](const auto& held) { return same_held(held, *right.get_if<std::decay_t<decltype(held)>>()); },
                    left.held());
}

}  // namespace distrun::rpc
