#pragma once
// How a user runs a program on another host of a run, in a terminal: by what has started the run's nodes.
#include <string>

#include <distrun/common/wire/inspect.hpp>
#include <distrun/runner/nodes/engine.hpp>

namespace distrun::cli {

// Returns the shell command that runs the command {node}, or one that is appended, on {host}: "ssh -t {host}"; "{node}"
// if it is this machine. `slurm_job` is the number of the allocation; empty: none.
std::string reach_of(const nodes::Engine& engine, const std::string& slurm_job);
// The same in the allocation of this process.
std::string reach_of(const nodes::Engine& engine);

// Returns whether the command runs another one on this machine.
bool is_here(const std::string& reach) noexcept;
// Returns the shell command that attaches gdb to a rank there: "ssh -t node02 gdb -q -p 4711"; empty if `reach` is.
std::string attach_command(const std::string& reach, const wire::RankStatus& rank);
// Returns the sentence that tells a user how to attach gdb to a rank that runs on another host.
std::string attach_text(const std::string& reach, const wire::RankStatus& rank);

}  // namespace distrun::cli
