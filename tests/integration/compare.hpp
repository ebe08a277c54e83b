#pragma once
// Compares the result of a fixture's run with the requirements of expected.hpp.
#include <string>
#include <vector>

#include "fixtures/row.hpp"
#include "support/process.hpp"
#include "support/summary.hpp"

namespace distrun::testing {

using Texts = std::vector<std::string>;

// Removes the note about names created by other programs from a console text.
std::string without_appeared(const std::string& text);

// Returns the differences, one sentence each; empty: none. `isolation` is the one that was requested.
Texts differences(const fixtures::Row& row, const TestResult& test, const std::string& isolation);
// The same for a plugin that cannot be loaded.
Texts problem_differences(const fixtures::Group& group, const Summary& summary);
// Returns contradictions within one summary, independent of the fixtures.
Texts contradictions(const Summary& summary);
// Returns what a console must not contain: control characters, invalid UTF-8.
Texts unprintable(const std::string& console);
// Returns live descendants of the ranks, things reported as removed that still exist, and things that had to stay but
// are gone.
Texts wrong_with_leaks(const TestResult& test);

}  // namespace distrun::testing
