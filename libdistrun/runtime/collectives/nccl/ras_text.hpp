#pragma once
// What NCCL's RAS says of a group, in words.
#include <string>

#include <distrun/runtime/collectives/call.hpp>
#include <distrun/runtime/collectives/nccl/ras.hpp>

namespace distrun::collectives {

// "NCCL's own RAS says OK of all 4 ranks, though rank 1 has not come (AllReduce: 6 of 7)", "NCCL's own RAS says: rank 2
// is missing (process 4711 on 10.0.0.2 is dead)". Empty if it tells of no communicator of the group: of one of that
// size, in which the group's own place is this `process`. Ranks are as the runner counts them.
std::string ras_text(const RasReport& report, const GroupInfo& group, int process);

}  // namespace distrun::collectives
