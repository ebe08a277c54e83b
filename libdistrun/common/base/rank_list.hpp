#pragma once
// Ranks as people write them; messages and reports name them alike.
#include <string>
#include <vector>

namespace distrun::base {

// "0-2, 5"; `ranks` ascend. The host, rank -1, is "host".
std::string rank_list(const std::vector<int>& ranks);
// "rank 2", "ranks 0-2, 5", "the host"; where the list is long "130 ranks (0, 2, 4, 6, ...)".
std::string ranks_label(const std::vector<int>& ranks);

}  // namespace distrun::base
