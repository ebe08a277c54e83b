#pragma once
// The program of a world, as its ranks on this node run it.
#include <distrun/runner/attempt/program.hpp>
#include <distrun/runner/nodes/messages.hpp>

namespace distrun::nodes {

// Returns what this host runs, without the place of its ranks. `host_variables` override those that have travelled.
// Throws Error{Failed} if the host has no such program.
launch::ProgramSpec find_program(const ProgramOrder& order, const std::vector<std::string>& host_variables);

// Returns the place of the ranks of a program that begins, without what only this host knows: its address and the
// directory.
runner::ProgramPlace place_of(const SpawnRequest& request, const BeginOrder& begin);

}  // namespace distrun::nodes
