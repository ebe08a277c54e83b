// Searches values, and compares them.
#include <algorithm>

#include <distrun/runtime/rpc/values/nested.hpp>
#include <distrun/runtime/rpc/values/object_type.hpp>
#include <distrun/runtime/rpc/values/value.hpp>

namespace distrun::rpc {
namespace {

std::string plural(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// Pairs that remain to be compared.
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

// Compares two values, but of values with items only the kinds; appends these to `left_over`.
bool same_level(const Value& left, const Value& right, Pairs& left_over) {
  if (left.kind() != right.kind()) return false;
  if (left.has_items()) return left_over.emplace_back(&left, &right), true;
  return std::visit([&](const auto& held) { return same_held(held, *right.get_if<std::decay_t<decltype(held)>>()); },
                    left.held());
}

// Compares the items of two values of the same kind.
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

}  // namespace

std::string describe(const Value& value) {
  const std::string name(name_of(value.kind()));
  if (const auto* const number = value.get_if<std::int64_t>()) return name + " " + std::to_string(*number);
  if (const auto* const tensor = value.get_if<Tensor>()) return "Tensor " + tensor::describe(*tensor);
  if (const auto* const list = value.get_if<List>()) return name + " of " + std::to_string(list->items.size());
  if (const auto* const tuple = value.get_if<Tuple>()) return name + " of " + std::to_string(tuple->items.size());
  if (const auto* const map = value.get_if<Map>()) return name + " of " + std::to_string(map->items.size());
  if (const auto* const record = value.get_if<Record>()) return name + " of " + plural(record->fields.size(), "field");
  if (const auto* const instance = value.get_if<Instance>()) return instance->type->name;
  return name;
}

void visit_references(const Value& value, const ReferenceVisitor& visit) {
  const auto visit_leaf = [&](const Value& leaf) {
    if (const auto* const reference = leaf.get_if<ReferencePtr>()) visit(*reference);
    const auto* const instance = leaf.get_if<Instance>();
    if (instance == nullptr || !instance->type->visit_references) return;
    instance->type->visit_references(instance->object.get(), visit);
  };
  any_leaf(value, [&](const Value& leaf) { return visit_leaf(leaf), false; });
}

void Value::visit_tensors(const future::TensorVisitor& visit) const {
  const auto visit_leaf = [&](const Value& leaf) {
    const auto* const tensor = leaf.get_if<Tensor>();
    if (tensor != nullptr && tensor->defined() && !tensor->device().is_cpu()) visit(*tensor);
    const auto* const instance = leaf.get_if<Instance>();
    if (instance == nullptr || !instance->type->visit_tensors) return;
    instance->type->visit_tensors(instance->object.get(), visit);
  };
  any_leaf(*this, [&](const Value& leaf) { return visit_leaf(leaf), false; });
}

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
