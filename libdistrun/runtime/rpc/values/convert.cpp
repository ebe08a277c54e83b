#include <distrun/runtime/rpc/values/convert.hpp>

#include <distrun/common/base/demangle.hpp>
#include <distrun/common/base/error.hpp>

namespace distrun::rpc::detail {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorKind::InvalidArgument, "TypeError", text); }

constinit thread_local int structs_now = 0;  // depth of nested structs whose fields this thread is converting

}  // namespace

void refuse_value(const std::string& wanted, const Value& value) {
  refuse("must be " + wanted + ", not " + describe(value));
}
void refuse_unregistered(const std::type_info& type) {
  refuse("objects of the class " + base::demangled_type(type.name()) +
         " can't be sent: register it with distrun::rpc::RegisterClass, or give it DISTRUN_FIELDS");
}
void refuse_range(std::size_t bytes, const std::string& number) {
  refuse("must be an int of " + std::to_string(8 * bytes) + " bits, which can't hold " + number);
}

FieldsScope::FieldsScope() {
  if (structs_now >= kDepthMax) {
    refuse("structs are nested more than " + std::to_string(kDepthMax) +
           " levels deep, and no more can be sent: make them flatter, or send their parts one by one");
  }
  ++structs_now;
}
FieldsScope::~FieldsScope() { --structs_now; }

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
