#pragma once
// What keeps ranks from making an exchange, as errors that name them. All throw; places are those of the group.
#include <vector>

#include <distrun/runtime/collectives/shm/area.hpp>

namespace distrun::collectives::shm {

// That of the card, but for what is its rank's own. True: both do the same.
bool is_same(const Card& a, const Card& b) noexcept;

// Error{InvalidArgument, "DistBackendError"}: "ranks do not call the same: ranks 0, 1, 3 are in all_reduce number 7 of
// group world, sum of float32 [4] (train.cpp:88); rank 2 in broadcast number 7, ...". Of all that have come to it.
[[noreturn]] void throw_mismatch(const Area& area, const GroupInfo& group, const Call& call, std::uint64_t exchange);
// Error{InvalidArgument}: parts of another size than whoever takes them has room for.
[[noreturn]] void throw_wrong_size(const GroupInfo& group, const Call& call, int from, std::size_t sent,
                                   std::size_t taken);
// base::PeerFailed: of those that do not come, one has gone; or, by its runner, one has failed.
[[noreturn]] void throw_gone(const Area& area, const GroupInfo& group, const std::string& what, base::Location site,
                             const std::vector<int>& missing);

}  // namespace distrun::collectives::shm
