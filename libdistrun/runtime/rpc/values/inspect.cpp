// What is in a value, where that takes the types of objects.
#include <distrun/runtime/rpc/values/object_type.hpp>
#include <distrun/runtime/rpc/values/value.hpp>

namespace distrun::rpc {
namespace {

void visit_all(const ValueList& items, const future::TensorVisitor& visit) {
  for (const Value& each : items) each.visit_tensors(visit);
}

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
  const auto visit_all = [&](const ValueList& items) {
    for (const Value& each : items) visit_references(each, visit);
  };
  switch (value.kind()) {
    case Kind::Reference: return visit(*value.get_if<ReferencePtr>());
    case Kind::List: return visit_all(value.get_if<List>()->items);
    case Kind::Tuple: return visit_all(value.get_if<Tuple>()->items);
    case Kind::Record: return visit_all(value.get_if<Record>()->fields);
    case Kind::Map:
      for (const auto& [key, mapped] : value.get_if<Map>()->items) {
        visit_references(key, visit);
        visit_references(mapped, visit);
      }
      return;
    case Kind::Instance: {
      const Instance& instance = *value.get_if<Instance>();
      if (instance.type->visit_references) instance.type->visit_references(instance.object.get(), visit);
      return;
    }
    default: return;
  }
}

void Value::visit_tensors(const future::TensorVisitor& visit) const {
  switch (kind()) {
    case Kind::Tensor: {
      const Tensor& tensor = *get_if<Tensor>();
      if (tensor.defined() && !tensor.device().is_cpu()) visit(tensor);
      return;
    }
    case Kind::List: return visit_all(get_if<List>()->items, visit);
    case Kind::Tuple: return visit_all(get_if<Tuple>()->items, visit);
    case Kind::Record: return visit_all(get_if<Record>()->fields, visit);
    case Kind::Map:
      for (const auto& [key, mapped] : get_if<Map>()->items) {
        key.visit_tensors(visit);
        mapped.visit_tensors(visit);
      }
      return;
    case Kind::Instance: {
      const Instance& instance = *get_if<Instance>();
      if (instance.type->visit_tensors) instance.type->visit_tensors(instance.object.get(), visit);
      return;
    }
    default: return;
  }
}

}  // namespace distrun::rpc
