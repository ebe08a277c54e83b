#pragma once
// Compares what a run says of a fixture with what expected.hpp says it must.
#include <string>
#include <vector>

#include "fixtures/row.hpp"
#include "support/process.hpp"
#include "support/summary.hpp"

namespace distrun::testing {

using Texts = std::vector<std::string>;

// What a console says, without the note of names that somebody else has made meanwhile.
std::string without_appeared(const std::string& text);

// What differs, one sentence each; empty: nothing. `isolation` is the one that was asked for.
Texts differences(const fixtures::Row& row, const TestResult& test, const std::string& isolation);
// The same for a plugin that cannot be loaded.
Texts problem_differences(const fixtures::Group& group, const Summary& summary);
// What does not fit together within one summary, whatever the fixtures are.
Texts contradictions(const Summary& summary);
// What a console must not be given: control characters, bytes that are no UTF-8.
Texts unprintable(const std::string& console);
// Descendants of the ranks and things that were reported as removed and are still there, and those that
// had to stay and are gone.
Texts wrong_with_leaks(const TestResult& test);

}  // namespace distrun::testing
