#pragma once
// Distributes devices to ranks.
#include <vector>

namespace distrun {

// Returns one device per rank, the first for rank 0; others stay unused. With fewer devices than ranks all lists are
// empty, and the test should skip, as with skip_if_no_gpu().
std::vector<std::vector<int>> devices_of_ranks(int world_size, int devices);

}  // namespace distrun
