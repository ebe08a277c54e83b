#pragma once
// Finds processes that a run left without its mark in their environment: by the high bits of the soft RLIMIT_LOCKS,
// which distrun sets in all processes of a run, or by the summary.
#include <cstdint>
#include <string>
#include <vector>

#include "support/sandbox.hpp"

namespace distrun::soak {

// Returns the high bits of the ranks in the sandbox; 0: there are no ranks, or they have no tag.
std::uint64_t tag_in_use(const testing::Sandbox& sandbox);
// Returns a sentence for each living process with that tag. None for 0.
std::vector<std::string> processes_with(std::uint64_t tag);
// Returns a sentence for each process that the summary reports as ended, and that still lives.
std::vector<std::string> not_ended(const testing::Summary& summary);

}  // namespace distrun::soak
