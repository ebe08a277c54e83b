#pragma once
// Runs operators (runtime/autograd/operators) with values as arguments, for calls and graph functions. Lists and tuples
// of tensors or ints become Tensor[] and int[]; devices become their names.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/runtime/rpc/values/value.hpp>
#include <distrun/runtime/tensor/core/value.hpp>

namespace distrun::rpc {

bool is_operator(std::string_view name);
std::vector<std::string> operator_names();
// Returns whether one of the operator's overloads takes these arguments.
bool takes_operands(std::string_view name, std::span<const Value> arguments);
// Throws Error{InvalidArgument, "TypeError"}: "unsupported operand type(s) for +: ..." if no operator takes a value.
std::vector<tensor::Value> operands_of(std::string_view name, std::span<const Value> arguments);
Value value_of_result(tensor::Value result);

// Throws as operands_of() and autograd::call_operator().
Value run_operator(std::string_view name, std::span<const Value> arguments);

}  // namespace distrun::rpc
