#pragma once
// Which worker of RPC a rank is, as events name it: the room rpc says so, which profiles know nothing of.
#include <cstdint>

namespace distrun::core {
class RankState;
}

namespace distrun::profiler {

// -1: none any more.
void set_node(const core::RankState& rank, std::int32_t node);
// Of the calling thread's rank; -1: none.
std::int32_t node_of_rank() noexcept;

}  // namespace distrun::profiler
