#pragma once
// Operators as callees.
#include <string>

#include <distrun/runtime/rpc/functions/function.hpp>

namespace distrun::rpc {

// Returns whether the operands are so small that the operator can run on the thread that reads the call.
bool is_small(const ValueList& arguments) noexcept;
// Throws the operator's errors; Error{InvalidArgument, "TypeError"} for values that no operator takes, "RuntimeError"
// that lists the overloads if none fits: "Overloaded torch operator invoked from Python failed to match any schema".
Value run_builtin(const std::string& name, const Arguments& arguments);

}  // namespace distrun::rpc
