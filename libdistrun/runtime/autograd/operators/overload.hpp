#pragma once
// One way to call an operator by its name.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/runtime/tensor/core/value.hpp>

namespace distrun::autograd {

using tensor::IntList;
using tensor::Value;
using tensor::ValueKind;

// The kind of a parameter. A Number is an int, a float or a bool; a Float may be given as an int. An OptionalTensor may
// be None.
enum class Parameter : std::uint8_t { Tensor, OptionalTensor, Tensors, Number, Int, Float, Bool, String, Ints };
std::string_view name_of(Parameter parameter) noexcept;

struct Overload {
  std::vector<Parameter> parameters;
  std::vector<Value> defaults;                       // of the last parameters
  std::function<Value(std::span<const Value>)> run;  // with a value for every parameter

  bool takes(std::span<const Value> arguments) const noexcept;
};
std::string to_string(const Overload& overload);  // "(Tensor, Tensor, number = 1)"

}  // namespace distrun::autograd
