#pragma once
// Uses the history for a run. If the history cannot be used, a line on stderr says so; the run continues.
#include <distrun/runner/report/text/estimate.hpp>
#include <distrun/runner/run/run.hpp>

#include "options/options.hpp"

namespace distrun::cli {

// Orders the tests by --order, and notes their usual durations unless `estimate` is null. Call it before the run; all
// must outlive it.
void arrange_tests(const RunOptions& options, runner::Run& run, report::Estimate* estimate);
// Adds the run to the history, after everything else. Skips runs without tests or with a debugger (durations).
void remember(const RunOptions& options, const runner::RunRecord& run);

}  // namespace distrun::cli
