#pragma once
// Suggests names for one that was not found.
#include <string>
#include <string_view>
#include <vector>

namespace distrun::base {

// Returns the names in `known` that are nearest to `word`, at most three, in their order; empty if none is near. A name
// is near if at most a third of the word's letters, or one letter, must be inserted, deleted, changed or swapped. Names
// that differ only in digits do not count: worker4 is not a misspelling of worker3.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

// Returns "a, b or c".
std::string joined_by_or(const std::vector<std::string>& names);

// Returns "; did you mean timeout?" with the result of nearest(), or an empty text.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace distrun::base
