#pragma once
// Uses the history for a run. If the history cannot be used, a line on stderr says so; the run continues.
#include <distrun/runner/run/run.hpp>

#include "options/options.hpp"

namespace distrun::cli {

// Orders the tests by --order. Call it before the run.
void arrange_tests(const RunOptions& options, runner::Run& run);
// Adds the run to the history, after everything else. Skips runs without tests or with a debugger (durations).
void remember(const RunOptions& options, const runner::RunRecord& run);

}  // namespace distrun::cli
