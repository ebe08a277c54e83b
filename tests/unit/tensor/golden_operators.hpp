#pragma once
// The operators of the golden cases, by their names in the files.
#include <functional>
#include <map>
#include <string>

#include "golden_cases.hpp"

namespace distrun::tensor {

using GoldenResults = std::map<std::string, Tensor>;
using GoldenCompute = std::function<GoldenResults(const GoldenCase&)>;

inline constexpr const char* kGoldenFiles[] = {"elementwise.txt", "functions.txt", "sums.txt",          "products.txt",
                                               "images.txt",      "bags.txt",      "normalization.txt", "losses.txt",
                                               "reductions.txt",  "picks.txt"};

const std::map<std::string, GoldenCompute>& golden_operators();

}  // namespace distrun::tensor
