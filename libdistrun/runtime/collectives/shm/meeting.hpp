#pragma once
// How the ranks of a group get the memory through which they meet.
#include <memory>

#include <distrun/runtime/collectives/shm/area.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives::shm {

// The group's first rank creates the memory, the others find it in `store`, which is private to the group. If the ranks
// are on several hosts, each creates its own, and they connect (mirror.hpp). Throws what the store throws,
// Error{Timeout} and base::PeerFailed naming absent ranks, Error{Disconnected} if the ranks are on several machines
// that distrun does not know of, and Error{Unimplemented} for too many ranks.
std::shared_ptr<Area> meet(Store& store, const GroupInfo& group, base::TimePoint deadline);

}  // namespace distrun::collectives::shm
