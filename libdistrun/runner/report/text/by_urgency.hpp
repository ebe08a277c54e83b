#pragma once
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

// The tests that somebody should look at, for reports that have room for some of them only: first those that break
// others (crash, deadlock), then failures and timeouts, the machine's faults, and what passed with a blemish (leak,
// flaky); of the same verdict in the order of the run. Passed, skipped and cancelled tests are left out.
// They live as long as `run`.
std::vector<const runner::TestRecord*> tests_by_urgency(const runner::RunRecord& run);

}  // namespace distrun::report
