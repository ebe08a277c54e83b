#pragma once
// Arguments with which each operator of the table has a result: tests that walk the table call it with these.
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <distrun/runtime/autograd/operators/operator_list.hpp>

#include "odd_tensors.hpp"

namespace distrun::test {

using autograd::IntList;
using autograd::Overload;
using autograd::Parameter;
using autograd::Value;

// The only string without a default is a device.
inline Value sound_value(Parameter parameter) {
  switch (parameter) {
    case Parameter::Tensor: return ones({2, 2});
    case Parameter::Tensors: return TensorList{ones({2, 2}), ones({2, 2})};
    case Parameter::Number:
    case Parameter::Int: return Int{1};
    case Parameter::Float: return 1.0;
    case Parameter::Bool: return false;
    case Parameter::String: return std::string("cpu");
    case Parameter::Ints: return IntList{1};
    case Parameter::OptionalTensor: break;
  }
  return std::monostate();
}

// Returns arguments with which an operator has a result.
inline std::vector<Value> sound_arguments(const std::string& name, const Overload& overload) {
  const Tensor square = ones({2, 2}), batch = ones({2, 2, 2}), images = ones({1, 2, 4, 4});
  const Tensor numbers = tensor::from_values<Int>({0, 1}), sparse = sparse_of({2, 3}, {3}, {2, 2});
  const Tensor mask = ones({2, 2}, {DType::Bool});
  const std::vector<std::pair<std::string, std::vector<Value>>> special = {
      {"bmm", {batch, batch}},
      {"conv2d", {images, ones({3, 2, 2, 2}), ones({3})}},
      {"max_pool2d", {images, IntList{2}}},
      {"embedding_bag", {square, numbers, numbers}},
      {"cross_entropy", {square, numbers}},
      {"nll_loss", {square, numbers}},
      {"layer_norm", {square, IntList{2}}},
      {"gather", {square, Int{0}, sparse_indices({2, 2})}},
      {"scatter_add", {square, Int{0}, sparse_indices({2, 2}), square}},
      {"scatter_add_", {square, Int{0}, sparse_indices({2, 2}), square}},
      {"index_select", {square, Int{0}, numbers}},
      {"index_add", {square, Int{0}, numbers, square}},
      {"index_add_", {square, Int{0}, numbers, square}},
      {"masked_fill", {square, mask, Int{1}}},
      {"masked_select", {square, mask}},
      {"where", {mask, square, square}},
      {"where", {mask, square, Int{1}}},
      {"where", {mask, Int{1}, square}},
      {"where", {mask, Int{1}, Int{1}}},
      {"one_hot", {numbers}},
      {"randint", {Int{0}, Int{5}, IntList{2}}},
      {"item", {ones({1})}},
      {"view", {square, IntList{4}}},
      {"reshape", {square, IntList{4}}},
      {"expand", {square, IntList{2, 2, 2}}},
      {"permute", {square, IntList{1, 0}}},
      {"narrow", {square, Int{0}, Int{0}, Int{1}}},
      {"transpose", {square, Int{0}, Int{1}}},
      {"split", {square, IntList{1, 1}}},
      {"squeeze", {ones({2, 1, 2}), Int{1}}},
      {"sparse_coo", {sparse_indices({2, 3}), ones({3}), IntList{2, 2}}},
      {"coalesce", {sparse}},
      {"to_dense", {sparse}},
  };
  std::vector<Value> arguments;
  for (const auto& [of, some] : special) {
    if (of == name && overload.takes(some)) arguments = some;
  }
  const std::size_t count = overload.parameters.size(), required = count - overload.defaults.size();
  for (std::size_t i = arguments.size(); i < count; ++i) {
    arguments.push_back(i < required ? sound_value(overload.parameters[i]) : overload.defaults[i - required]);
  }
  return arguments;
}

// Replaces tensors by results of operators on leaves, so that the call is recorded.
inline std::vector<Value> recorded_arguments(const std::vector<Value>& sound) {
  std::vector<Value> arguments = sound;
  for (Value& argument : arguments) {
    auto* tensor = std::get_if<Tensor>(&argument);
    if (tensor == nullptr || !tensor::is_floating(tensor->dtype())) continue;
    *tensor = mul(set_requires_grad(clone(*tensor)), 1);
  }
  return arguments;
}

// Calls visit(name, entry, overload) for every overload of the table.
template <class Visit>
void for_each_overload(Visit visit) {
  for (const auto& [name, entry] : autograd::operator_list()) {
    for (const Overload& overload : entry.overloads) {
      INFO(name << to_string(overload));
      visit(name, entry, overload);
    }
  }
}

}  // namespace distrun::test
