#pragma once
// Processes that a run left and that say nothing of it in their environment: known by the soft RLIMIT_LOCKS, whose
// high bits distrun gives to all processes of a run, or by what the summary says of them.
#include <cstdint>
#include <string>
#include <vector>

#include "support/sandbox.hpp"

namespace distrun::soak {

// The high bits that the ranks in the sandbox have; 0: there are none, or they have no tag.
std::uint64_t tag_in_use(const testing::Sandbox& sandbox);
// Who has them and is alive, one sentence each. None for 0.
std::vector<std::string> processes_with(std::uint64_t tag);
// Who is told to have been ended, and is alive.
std::vector<std::string> not_ended(const testing::Summary& summary);

}  // namespace distrun::soak
