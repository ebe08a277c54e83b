#pragma once
// Operators by name, for calls that arrive as data: built-in functions over RPC, graph functions. The kinds of the
// arguments select one of a name's overloads; trailing arguments with defaults may be left out.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/operators/overload.hpp>

namespace distrun::autograd {

// Calls an operator, recorded as usual. Throws Error{InvalidArgument, "AttributeError"} for an unknown name;
// Error{InvalidArgument, "TypeError"} if no overload takes the arguments, with their kinds and the overloads; and what
// the operator throws. Thread-safe.
Value call_operator(std::string_view name, std::span<const Value> arguments);

// Returns null for an unknown name.
const std::vector<Overload>* find_operator(std::string_view name);
std::vector<std::string> operator_names();
// Error{InvalidArgument, "AttributeError"}: "there is no operator named mull; did you mean mul?"
Error no_operator(std::string_view name);

}  // namespace distrun::autograd
