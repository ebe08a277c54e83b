#pragma once
// The environment of a program's ranks on other hosts. As with mpirun and srun, it is that of the command which has
// started the run. What describes a single host does not travel: a rank gets its own host's, or none.
#include <distrun/runner/proc/environment.hpp>

namespace distrun::nodes {

// Returns the variables that hold on every host: without those of a launcher's processes (allocation.hpp; those that
// name Slurm's job stay), of a login or a desktop, directories for temporary files, and the name of the host.
proc::Variables travelling(const proc::Variables& of_command);

// Returns the variables of this host that override those which travel. `here` is the environment in which the launcher
// has started the node: HOSTNAME, what does not travel, and the choice of devices, if the host has made one, as Slurm
// does for its steps.
proc::Variables of_host(const proc::Variables& here, const std::string& hostname);
// Returns the same of this process, on this machine.
proc::Variables of_this_host();

}  // namespace distrun::nodes
