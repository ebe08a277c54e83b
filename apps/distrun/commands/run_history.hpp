#pragma once
// What a run has to do with those before it. A history that cannot be used costs a line on stderr, never a run.
#include <distrun/runner/run/run.hpp>

#include "options/options.hpp"

namespace distrun::cli {

// As --order says. Before the run.
void arrange_tests(const RunOptions& options, runner::Run& run);
// After everything else: the run goes into the history. Not one under a debugger, whose durations mean nothing, nor one
// without tests.
void remember(const RunOptions& options, const runner::RunRecord& run);

}  // namespace distrun::cli
