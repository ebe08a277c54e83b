#pragma once
// Formats lists of ranks; messages and reports use the same format.
#include <string>
#include <vector>

namespace distrun::base {

// Returns "0-2, 5" for ascending `ranks`. Rank -1 is "host".
std::string rank_list(const std::vector<int>& ranks);
// Returns "rank 2", "ranks 0-2, 5", "the host", or "130 ranks (0, 2, 4, 6, ...)" if the list is long.
std::string ranks_label(const std::vector<int>& ranks);

}  // namespace distrun::base
