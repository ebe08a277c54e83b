#pragma once
#include <string>

#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/text/paint.hpp>

namespace distrun::report {

// Returns everything needed to fix this test, beginning with the cause and ending in the command that repeats it. For
// tests with a verdict other than pass or skip. `with_output` adds the culprits' output.
std::string failure_text(const runner::Settings& settings, const runner::TestRecord& test, const Paint& paint,
                         bool with_output = true);

// Returns the attempt that explains the test's verdict: the first that did not succeed; null: none ran.
const runner::AttemptRecord* telling_attempt(const runner::TestRecord& test);

}  // namespace distrun::report
