#pragma once
// "rank 2", "ranks 0-1, 3": how messages name ranks.
#include <string>
#include <vector>

namespace distrun::runner {

// Sorted and without repeats first; empty for no ranks.
std::string rank_list(std::vector<int> ranks);

}  // namespace distrun::runner
