#pragma once
// Finds the processes of a run from outside, by their kind, so that a test can kill one.
#include <string>
#include <vector>

#include "daemon.hpp"
#include "process.hpp"

namespace distrun::testing {

enum class Victim { Guard, Coordinator, Lister, Zygote, Rank, Probe, Daemon };

std::string name_of(Victim victim);

// Returns the processes of this kind in the run that `running`, started by the user, is or has submitted; empty if no
// such process exists at the moment. `daemon` is null for a run without one. It counts as a victim once its run has
// begun, and must have no other run.
std::vector<pid_t> victims_of(const Running& running, const Daemon* daemon, Victim victim);

}  // namespace distrun::testing
