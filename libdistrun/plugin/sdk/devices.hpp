#pragma once
// Which rank uses which devices.
#include <vector>

namespace distrun {

// One device for each rank, rank 0 the first; what is over is nobody's. With fewer devices than ranks all lists are
// empty, and the test is better skipped: skip_if_no_gpu() does that.
std::vector<std::vector<int>> devices_of_ranks(int world_size, int devices);

}  // namespace distrun
