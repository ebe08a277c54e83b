#pragma once
// Methods of a value by name: those of its registered class, or the operators of a tensor.
#include <string>

#include <distrun/runtime/rpc/functions/function.hpp>
#include <distrun/runtime/rpc/values/value.hpp>

namespace distrun::rref {

using rpc::Value;

// Functions that workers call at the owner of a reference; the reference's id comes first.
inline constexpr char kFetch[] = "_rref_fetch";             // (created_on, local_id): the value
inline constexpr char kTypeOf[] = "_rref_typeof_on_owner";  // (created_on, local_id): the name of its type
// (created_on, local_id, method, positional, named): the method's result
inline constexpr char kInvoke[] = "_rref_invoke";
inline constexpr char kPage[] = "_rref_page";  // (): the page of its references, as bytes

// "Tensor", "MyClass", "int".
std::string type_name_of(const Value& value);
bool has_method(const std::string& type, const std::string& method);
// Throws Error{InvalidArgument, "AttributeError"}: "'MyClass' object has no attribute 'non_exist'".
void check_method(const std::string& type, const std::string& method);
// Throws what check_method() and the method throw.
rpc::Result call_method(const Value& object, const std::string& method, rpc::Arguments arguments);

}  // namespace distrun::rref
