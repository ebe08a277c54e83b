#pragma once
// What is wrong with the declarations of a plugin, as texts for their author.
#include <string>
#include <vector>

#include <distrun/plugin/sdk/detail/registry.hpp>

namespace distrun::detail {

// Names that an id can't hold, names that come twice, suites without tests. Each is a sentence that
// starts with its place: "ring.cpp:7: Ring.starts: is declared twice, ...".
std::vector<std::string> flaws_of_names(const Registry& registry);

// Values out of range, as fixed(0). Each is a fragment without the place.
std::vector<std::string> flaws_of_options(const TestOptions& options);

// "ring.cpp:7: Ring.starts: <flaw>"
std::string finding(const TestDeclaration& test, const std::string& flaw);

}  // namespace distrun::detail
