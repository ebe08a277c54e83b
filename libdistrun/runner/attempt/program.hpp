#pragma once
// `distrun exec`: a program instead of a plugin. The run has one test, exec.NAME; its ranks are processes of the
// program. They report nothing: their body begins when they start, and their exit code is their result.
#include <string>

#include <distrun/runner/attempt/cpu_binding.hpp>
#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

// Plans the test for settings.program and settings.program_path.
PlannedTest plan_program(const Settings& settings);

// The place of a program's ranks on one host: their numbers in the world, and where rank 0 is.
struct ProgramPlace {
  std::string run_id;
  std::string temp_dir;  // that they share
  std::string master_address = "127.0.0.1";
  int master_port = 0;
  int world_size = 1;
  int first_rank = 0;  // of those on this host
  int ranks_here = 1;
  int cpus = 1;              // that these may use
  int host = 0;              // the number of this host among those of the world
  std::string hosts;         // $DISTRUN_HOSTS; empty: the world has one host
  std::string host_address;  // $DISTRUN_HOST_ADDRESS, if it has several
};
// Sets program.variables for each rank on this host: RANK, WORLD_SIZE and the like. The program's environment must be
// complete, since defaults (DISTRUN_THREADS, PYTHONUNBUFFERED) do not replace what is set there.
void set_place(launch::ProgramSpec& program, const ProgramPlace& place);
// Binds the ranks on this host to their share of `cpus`. Call after set_place().
void bind(launch::ProgramSpec& program, const LaneCpus& cpus);

// The ranks on this host have a private /tmp: another directory may be invisible to them. Call after set_place().
void use_private_tmp(launch::ProgramSpec& program);

// Returns what nodes must start, without the place of ranks.
launch::ProgramSpec program_spec(const Settings& settings);
// Returns what this machine must start: MASTER_PORT is a port that was free a moment ago. Throws Error{Failed} if no
// port is free.
launch::ProgramSpec local_program_spec(const Settings& settings, const std::string& run_id,
                                       const std::string& temp_dir);

}  // namespace distrun::runner
