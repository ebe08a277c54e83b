#pragma once
// Operators as what others call.
#include <string>

#include <distrun/runtime/rpc/functions/function.hpp>

namespace distrun::rpc {

// So little work that it is done where the call is read.
bool is_small(const ValueList& arguments) noexcept;
// Throws what the operator throws; Error{InvalidArgument, "TypeError"} for values that none can take, and
// "RuntimeError" if it does not take these, with the overloads that there are: "Overloaded torch operator invoked from
// Python failed to match any schema".
Value run_builtin(const std::string& name, const Arguments& arguments);

}  // namespace distrun::rpc
