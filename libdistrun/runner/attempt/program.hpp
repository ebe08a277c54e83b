#pragma once
// `distrun exec`: a program instead of a plugin. The run has one test, exec.NAME; its ranks are processes of the
// program. They report nothing: their body begins when they start, and their exit code is their result.
#include <string>

#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

// Plans the test for settings.program and settings.program_path.
PlannedTest plan_program(const Settings& settings);

// Returns what the node must start. Each rank gets RANK, WORLD_SIZE and the like, MASTER_PORT with a port that was free
// a moment ago, and the shared `temp_dir`. Throws Error{Failed} if no port is free.
launch::ProgramSpec program_spec(const Settings& settings, const std::string& run_id, const std::string& temp_dir);

}  // namespace distrun::runner
