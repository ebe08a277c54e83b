#pragma once
// The RPC worker id of a rank, which events name. The module rpc sets it, since profiles don't depend on rpc.
#include <cstdint>

namespace distrun::core {
class RankState;
}

namespace distrun::profiler {

// Sets the id; -1: none any more.
void set_node(const core::RankState& rank, std::int32_t node);
// Returns the id of the calling thread's rank; -1: none.
std::int32_t node_of_rank() noexcept;

}  // namespace distrun::profiler
