#pragma once
// Methods of a value by name: those of its registered class, the operators of a tensor.
#include <string>

#include <distrun/runtime/rpc/functions/function.hpp>
#include <distrun/runtime/rpc/values/value.hpp>

namespace distrun::rref {

using rpc::Value;

// What a worker calls at the owner of a reference, by name; its id comes first.
inline constexpr char kFetch[] = "_rref_fetch";             // (created_on, local_id): the value
inline constexpr char kTypeOf[] = "_rref_typeof_on_owner";  // (created_on, local_id): the name of its type
inline constexpr char kInvoke[] = "_rref_invoke";  // (created_on, local_id, method, positional, named): what it returns
inline constexpr char kPage[] = "_rref_page";      // (): what it shows of its references, as bytes

// "Tensor", "MyClass", "int".
std::string type_name_of(const Value& value);
bool has_method(const std::string& type, const std::string& method);
// Throws Error{InvalidArgument, "AttributeError"}: "'MyClass' object has no attribute 'non_exist'".
void check_method(const std::string& type, const std::string& method);
// Throws what check_method() and the method throw.
rpc::Result call_method(const Value& object, const std::string& method, rpc::Arguments arguments);

}  // namespace distrun::rref
