#include <distrun/plugin/sdk/devices.hpp>

#include <algorithm>

namespace distrun {

std::vector<std::vector<int>> devices_of_ranks(int world_size, int devices) {
  std::vector<std::vector<int>> all(static_cast<std::size_t>(std::max(world_size, 0)));
  if (world_size > devices) return all;
  for (int rank = 0; rank < world_size; ++rank) all[static_cast<std::size_t>(rank)].push_back(rank);
  return all;
}

}  // namespace distrun
