#pragma once
// Operators by name, for calls that arrive as data: built-in functions over RPC, graph functions. A name has overloads,
// told apart by the kinds of the arguments; arguments that have a default may be left out at the end.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/operators/overload.hpp>

namespace distrun::autograd {

// A result, recorded as the operator itself would. Throws Error{InvalidArgument, "AttributeError"} for an unknown name;
// Error{InvalidArgument, "TypeError"} if no overload takes the arguments, with their kinds and the overloads that there
// are; and what the operator throws. Any thread.
Value call_operator(std::string_view name, std::span<const Value> arguments);

// Null: there is none of that name.
const std::vector<Overload>* find_operator(std::string_view name) noexcept;
std::vector<std::string> operator_names();
// Error{InvalidArgument, "AttributeError"}: "there is no operator named mull; did you mean mul?"
Error no_operator(std::string_view name);

}  // namespace distrun::autograd
