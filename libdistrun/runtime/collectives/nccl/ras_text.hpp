#pragma once
// Describes what NCCL's RAS reports on a group.
#include <string>

#include <distrun/runtime/collectives/call.hpp>
#include <distrun/runtime/collectives/nccl/ras.hpp>

namespace distrun::collectives {

// Returns "NCCL's own RAS says OK of all 4 ranks, though rank 1 has not come (AllReduce: 6 of 7)", "NCCL's own RAS
// says: rank 2 is missing (process 4711 on 10.0.0.2 is dead)". Empty if the report has no communicator of the group,
// which has that size and this `process` at the group's own rank. Ranks are world ranks.
std::string ras_text(const RasReport& report, const GroupInfo& group, int process);

}  // namespace distrun::collectives
