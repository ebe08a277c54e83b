#pragma once
// The entries of the operator table.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <distrun/runtime/autograd/operators/overload.hpp>

namespace distrun::autograd {

using OperatorList = std::map<std::string, std::vector<Overload>, std::less<>>;

// Made by the first call; never changes. Overloads stand in the order in which they are tried.
const OperatorList& operator_list();

}  // namespace distrun::autograd
