#pragma once
// The processes of a run, found from outside by what they are, so that a test can kill one.
#include <string>
#include <vector>

#include "daemon.hpp"
#include "process.hpp"

namespace distrun::testing {

enum class Victim { Guard, Coordinator, Lister, Zygote, Rank, Probe, Daemon };

std::string name_of(Victim victim);

// Those of the run that `running`, what the user has started, is or has submitted: now, and none if there are none yet
// or any more. `daemon` is null for a run without one; it is a victim once its run has begun. It has no other run.
std::vector<pid_t> victims_of(const Running& running, const Daemon* daemon, Victim victim);

}  // namespace distrun::testing
