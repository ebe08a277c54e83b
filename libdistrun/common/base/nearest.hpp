#pragma once
// What a name that is not found was probably meant to be.
#include <string>
#include <string_view>
#include <vector>

namespace distrun::base {

// Returns those of `known` that are nearest to `word`, at most three, in their order; empty if none is near. A name is
// near if a third of the word's letters at most, or one, must be put in, left out, changed or swapped. Names that
// differ in digits only are other names: worker4 is no slip of worker3.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

// Returns "a, b or c".
std::string joined_by_or(const std::vector<std::string>& names);

// Returns "; did you mean timeout?" with what nearest() finds, or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace distrun::base
