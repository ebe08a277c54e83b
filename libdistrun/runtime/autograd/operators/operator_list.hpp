#pragma once
// The entries of the operator table.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <distrun/runtime/autograd/operators/overload.hpp>

namespace distrun::autograd {

using OperatorList = std::map<std::string, std::vector<Overload>, std::less<>>;

// Created by the first call; constant afterwards. Overloads are tried in their order.
const OperatorList& operator_list();

}  // namespace distrun::autograd
