#pragma once
// Operators by name, for calls that arrive as data: built-in functions over RPC, graph functions. A name has overloads,
// told apart by the kinds of the arguments; arguments that have a default may be left out at the end.
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/runtime/autograd/value.hpp>

namespace distrun::autograd {

// What a parameter takes. A Number is an int, a float or a bool; a Float may be given as an int. An OptionalTensor may
// be None.
enum class Parameter : std::uint8_t { Tensor, OptionalTensor, Tensors, Number, Int, Float, Bool, String, Ints };
std::string_view name_of(Parameter parameter) noexcept;

struct Overload {
  std::vector<Parameter> parameters;
  std::vector<Value> defaults;                       // of the last of them
  std::function<Value(std::span<const Value>)> run;  // with a value for every parameter

  bool takes(std::span<const Value> arguments) const noexcept;
};
std::string to_string(const Overload& overload);  // "(Tensor, Tensor, number = 1)"

// A result, recorded as the operator itself would. Throws Error{InvalidArgument, "AttributeError"} for an unknown name;
// Error{InvalidArgument, "TypeError"} if no overload takes the arguments, with their kinds and the overloads that there
// are; and what the operator throws. Any thread.
Value call_operator(std::string_view name, std::span<const Value> arguments);

// Null: there is none of that name.
const std::vector<Overload>* find_operator(std::string_view name) noexcept;
std::vector<std::string> operator_names();

}  // namespace distrun::autograd
