#pragma once
// How a user runs a program on another host of a run, in a terminal: by what has started the run's nodes.
#include <string>

#include <distrun/common/wire/inspect.hpp>
#include <distrun/runner/nodes/engine.hpp>

namespace distrun::cli {

// Returns the command that runs another one on {host}: "ssh -t {host}". Empty: this machine, or unknown. `slurm_job` is
// the number of the allocation; empty: none.
std::string reach_of(const nodes::Engine& engine, const std::string& slurm_job);
// The same in the allocation of this process.
std::string reach_of(const nodes::Engine& engine);

// Returns the sentence that tells a user how to attach gdb to a rank that runs on another host.
std::string attach_text(const std::string& reach, const wire::RankStatus& rank);

}  // namespace distrun::cli
