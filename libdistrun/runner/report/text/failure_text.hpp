#pragma once
#include <string>

#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/text/paint.hpp>

namespace distrun::report {

// Everything that somebody needs who has to mend this test, cause first, ending in the command that
// runs it again. For a test that did not simply pass or skip. `with_output`: with what the culprits wrote.
std::string failure_text(const runner::Settings& settings, const runner::TestRecord& test, const Paint& paint,
                         bool with_output = true);

// The attempt that explains the test's verdict: the first that did not go well; null: none ran.
const runner::AttemptRecord* telling_attempt(const runner::TestRecord& test);

}  // namespace distrun::report
