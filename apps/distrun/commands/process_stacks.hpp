#pragma once
// The stacks of any processes, for a command.
#include <memory>
#include <vector>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/launch/stack_collector.hpp>

namespace distrun::cli {

// Starts to collect the stacks of the processes and of at most `descendants` that they have started. Calls `on_stacks`
// once, from the loop, within three seconds (nine on a busy machine), unless the result is destroyed first.
std::unique_ptr<launch::StackCollector> stacks_of_processes(io::Loop& loop, const std::vector<int>& pids,
                                                            int descendants, launch::OnStacks on_stacks);

}  // namespace distrun::cli
