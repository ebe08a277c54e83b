#pragma once
// A plugin's class whose objects are sent by value: how an object is converted to a Value (its state) and back. Both
// functions are user code, may be slow and may use the codec, which keeps no state between calls. Registered by
// functions/register_class.hpp; looked up by name when an object arrives.
#include <functional>
#include <memory>
#include <string>
#include <typeindex>

#include <distrun/runtime/rpc/values/value.hpp>

namespace distrun::rpc {

class ObjectType {
 public:
  std::string name;  // "MyClass"; sent in messages
  std::type_index type{typeid(void)};
  // Empty: objects cannot be sent, but can be created, and called where they are.
  std::function<Value(const void* object)> encode;
  std::function<std::shared_ptr<void>(const Value& state)> decode;
  std::function<void(const void* object, const future::TensorVisitor&)> visit_tensors;  // empty: not searched
  // Empty: no references are searched for. Called on a thread that inspects values, which other threads may be using.
  std::function<void(const void* object, const ReferenceVisitor&)> visit_references;
};

// Thread-safe; called while plugins are loaded, or later. Throws Error{InvalidArgument} if either is registered.
const ObjectType& add_object_type(ObjectType type);
// Sets the codec of a registered type; call it once.
void set_codec(const std::string& name, std::function<Value(const void*)> encode,
               std::function<std::shared_ptr<void>(const Value&)> decode);
// Both return null if the type is not registered.
const ObjectType* find_object_type(std::string_view name) noexcept;
const ObjectType* find_object_type(std::type_index type) noexcept;

}  // namespace distrun::rpc
