#pragma once
// The operator table, as operator_entries.inc has it.
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/runtime/autograd/operators/overload.hpp>

namespace distrun::autograd {

struct Operator {
  std::vector<Overload> overloads;  // tried in their order
  std::string_view no_gradient;     // why results never need a gradient; empty if they may
  std::string_view recorded_as;     // the operator that records its gradient; empty if it does so itself
  std::string_view by_name;         // why it cannot be traced as a function of distrun; empty if it can
};
using OperatorList = std::map<std::string, Operator, std::less<>>;

// Created by the first call; constant afterwards.
const OperatorList& operator_list();

}  // namespace distrun::autograd
