#pragma once
// What this process has to do with in the directories where everybody may leave something, so that a name which it
// leaves there is known to be its.
#include <vector>

#include <distrun/common/wire/control.hpp>

namespace distrun::rank {

// Nothing, and nothing is read, if none of them has changed.
std::vector<wire::HeldName> held_in(const std::vector<wire::WatchedDirectory>& watched);

}  // namespace distrun::rank
