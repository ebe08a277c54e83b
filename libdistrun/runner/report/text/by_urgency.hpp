#pragma once
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

// Returns the tests that need attention, for reports with limited room: first those that break others (crash,
// deadlock), then failures and timeouts, infrastructure errors, and passes with a defect (leak, flaky); tests of the
// same verdict in the order of the run. Leaves out passed, skipped and cancelled tests. Valid as long as `run`.
std::vector<const runner::TestRecord*> tests_by_urgency(const runner::RunRecord& run);

}  // namespace distrun::report
