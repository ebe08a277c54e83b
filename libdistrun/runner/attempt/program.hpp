#pragma once
// `distrun exec`: a program in place of a plugin. It makes a run of one test, exec.NAME, whose ranks are processes of
// the program. They tell nothing: they begin their body when they begin, and their exit codes are their results.
#include <string>

#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

// settings.program and program_path say which.
PlannedTest plan_program(const Settings& settings);

// What the node starts. Every rank gets RANK, WORLD_SIZE and their like, MASTER_PORT with a port that was free a
// moment ago, and `temp_dir`, which all share. Throws Error{Failed} if there is no port.
launch::ProgramSpec program_spec(const Settings& settings, const std::string& run_id, const std::string& temp_dir);

}  // namespace distrun::runner
