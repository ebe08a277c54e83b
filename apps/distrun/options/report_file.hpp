#pragma once
// A summary that an earlier run wrote, for `distrun show`, `distrun history --import` and --rerun-failed.
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>

#include "option_layers.hpp"
#include "options.hpp"

namespace distrun::cli {

// Both throw Error{InvalidArgument} that names the file and what is wrong with it.
std::string read_report_text(const std::string& path);
runner::RunRecord read_report(const std::string& path);

// Those that did not pass, as the exit code counts them: skipped and flaky ones are fine.
std::vector<runner::TestName> failed_tests(const runner::RunRecord& run);
// The plugins of these tests, each once, in their order.
std::vector<std::string> plugins_of(const std::vector<runner::TestName>& tests);
// Of a report without failed tests: what to tell, and how to end. A clean one is 0; where tests may not have run, 4.
NothingToRun why_nothing_reruns(const runner::RunRecord& run, const std::string& path);
// Every option that may matter to how its tests come out, with the value that the run had; `path` is the origin.
Layer report_layer(const runner::RunRecord& run, const std::string& path);

}  // namespace distrun::cli
