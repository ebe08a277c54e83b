#pragma once
// Reads a summary of an earlier run, for `distrun show`, `distrun history --import` and --rerun-failed.
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>

#include "option_layers.hpp"
#include "options.hpp"

namespace distrun::cli {

// Both throw Error{InvalidArgument} that names the file and what is wrong with it.
std::string read_report_text(const std::string& path);
runner::RunRecord read_report(const std::string& path);

// Returns the tests that count as failed for the exit code: skipped and flaky ones do not.
std::vector<runner::TestName> failed_tests(const runner::RunRecord& run);
// Returns the plugins of these tests, each once, in order.
std::vector<std::string> plugins_of(const std::vector<runner::TestName>& tests);
// Returns message and exit code for a report without failed tests: 0 for a clean one, 4 if tests may not have run.
NothingToRun why_nothing_reruns(const runner::RunRecord& run, const std::string& path);
// Returns every option that may affect the results, with the run's value; `path` is the origin.
Layer report_layer(const runner::RunRecord& run, const std::string& path);

}  // namespace distrun::cli
