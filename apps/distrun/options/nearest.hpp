#pragma once
#include <string>
#include <vector>

namespace distrun::cli {

// The one of `known` that `word` was probably meant to be; empty if none is near.
std::string nearest(const std::string& word, const std::vector<std::string>& known);
// "; did you mean timeout?" with what nearest() finds, or nothing.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

}  // namespace distrun::cli
