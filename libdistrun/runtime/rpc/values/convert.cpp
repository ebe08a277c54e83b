#include <distrun/runtime/rpc/values/convert.hpp>

#include <distrun/common/base/demangle.hpp>
#include <distrun/common/base/error.hpp>

namespace distrun::rpc::detail {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorKind::InvalidArgument, "TypeError", text); }

}  // namespace

void refuse_value(const std::string& wanted, const Value& value) {
  refuse("must be " + wanted + ", not " + describe(value));
}
void refuse_length(const std::string& wanted, std::size_t length, const Value& value) {
  refuse("must be " + wanted + ", not " + describe(value) + " with " + std::to_string(length));
}
void refuse_unregistered(const std::type_info& type) {
  refuse("objects of the class " + base::demangled_type(type.name()) +
         " can't be sent: register it with distrun::rpc::RegisterClass, or give it DISTRUN_FIELDS");
}
void refuse_range(const std::string& wanted, std::int64_t number) {
  refuse("must be an " + wanted + ", which can't hold " + std::to_string(number));
}

const ValueList* items_of(const Value& value) noexcept {
  if (const List* const list = value.get_if<List>()) return &list->items;
  if (const Tuple* const tuple = value.get_if<Tuple>()) return &tuple->items;
  return nullptr;
}

const void* instance_of(const Value& value, std::type_index type) noexcept {
  const Instance* const instance = value.get_if<Instance>();
  return instance != nullptr && instance->type->type == type ? instance->object.get() : nullptr;
}
std::shared_ptr<void> shared_instance_of(const Value& value, std::type_index type) noexcept {
  return instance_of(value, type) != nullptr ? value.get_if<Instance>()->object : nullptr;
}

}  // namespace distrun::rpc::detail
