#pragma once
// Finds the names that this process uses in shared directories, to attribute files that it leaves there.
#include <vector>

#include <distrun/common/wire/control.hpp>

namespace distrun::rank {

// Returns an empty list, and reads nothing, if none of the directories has changed.
std::vector<wire::HeldName> held_in(const std::vector<wire::WatchedDirectory>& watched);

}  // namespace distrun::rank
