#pragma once
// Stacks of the ranks of a world, read or named by all of its nodes, in one table. Lives on: the coordinator's loop.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/nodes/spread_ranks.hpp>

namespace distrun::nodes {

// These do what those of launch::World do, for world `number`. `on_stacks` is not called once `ranks` is destroyed.
void collect_stacks(io::Loop& loop, const std::shared_ptr<SpreadRanks>& ranks, std::uint32_t number,
                    const launch::StackOrder& order, launch::OnStacks on_stacks);
void name_stacks(io::Loop& loop, const std::shared_ptr<SpreadRanks>& ranks, std::uint32_t number, const char* source,
                 std::vector<std::pair<int, wire::RawStacks>> by_rank, base::Nanoseconds bound,
                 launch::OnStacks on_stacks);

}  // namespace distrun::nodes
