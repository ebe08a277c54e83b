#pragma once
// Finds errors in a plugin's declarations, as texts for its author.
#include <string>
#include <vector>

#include <distrun/plugin/sdk/detail/registry.hpp>

namespace distrun::detail {

// Finds invalid names, duplicate names, and suites without tests. Each result is a sentence that begins with the
// location: "ring.cpp:7: Ring.starts: is declared twice, ...".
std::vector<std::string> flaws_of_names(const Registry& registry);

// Finds values out of range, such as fixed(0). Each result is a fragment without the location.
std::vector<std::string> flaws_of_options(const TestOptions& options);

// Returns "ring.cpp:7: Ring.starts: <flaw>".
std::string finding(const TestDeclaration& test, const std::string& flaw);

}  // namespace distrun::detail
