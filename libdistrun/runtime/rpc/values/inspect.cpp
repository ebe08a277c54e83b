// What is in a value, where that takes the types of objects.
#include <distrun/runtime/rpc/values/nested.hpp>
#include <distrun/runtime/rpc/values/object_type.hpp>
#include <distrun/runtime/rpc/values/value.hpp>

namespace distrun::rpc {
namespace {

std::string plural(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
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

}  // namespace distrun::rpc
