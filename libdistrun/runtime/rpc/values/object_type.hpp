#pragma once
// A class of a plugin whose objects travel by value: how one becomes a Value (its state), and how one is made of it
// again. Both are the author's code, may take their time, and may use the codec themselves: it keeps nothing between
// calls. Registered by functions/register_class.hpp; found by name when one arrives.
#include <functional>
#include <memory>
#include <string>
#include <typeindex>

#include <distrun/runtime/rpc/values/value.hpp>

namespace distrun::rpc {

class ObjectType {
 public:
  std::string name;  // "MyClass": what travels
  std::type_index type{typeid(void)};
  // Empty: objects of it can't travel, but may be made and called where they are.
  std::function<Value(const void* object)> encode;
  std::function<std::shared_ptr<void>(const Value& state)> decode;
  std::function<void(const void* object, const future::TensorVisitor&)> visit_tensors;  // empty: none are looked for
  // Empty: none are looked for. Called by a thread that looks at what is held, while others may be at work.
  std::function<void(const void* object, const ReferenceVisitor&)> visit_references;
};

// While plugins are loaded, or later; any thread. The first of a name, and of a class, stays: throws
// Error{InvalidArgument} for another one.
const ObjectType& add_object_type(ObjectType type);
// Of one that was added; once.
void set_codec(const std::string& name, std::function<Value(const void*)> encode,
               std::function<std::shared_ptr<void>(const Value&)> decode);
// Null: not registered.
const ObjectType* find_object_type(std::string_view name) noexcept;
const ObjectType* find_object_type(std::type_index type) noexcept;

}  // namespace distrun::rpc
