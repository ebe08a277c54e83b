#pragma once
// How the ranks of a world are distributed over hosts: in blocks, the first ranks on the first host.
#include <vector>

#include <distrun/runner/nodes/host_list.hpp>

namespace distrun::nodes {

// Returns how many ranks run on each host; 0 is possible if there are more hosts than ranks. With `per_host` (not 0)
// each host takes that many, until none is left. Otherwise hosts with a number of ranks are filled first, and the
// others share the rest evenly, the first ones one more. Throws Error{InvalidArgument}, which says how many ranks fit.
std::vector<int> split_world(int world_size, const std::vector<HostSlot>& hosts, int per_host);

}  // namespace distrun::nodes
