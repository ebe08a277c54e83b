#pragma once
// Errors that name the ranks that keep an exchange from completing. Places are group ranks.
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/shm/area.hpp>

namespace distrun::collectives::shm {

// Returns true if both slot headers show the same call, apart from what each rank has for itself.
bool is_same(const SlotHeader& a, const SlotHeader& b) noexcept;

// Returns the mark of a slot header. SlotHeaders that differ in more than their sizes almost certainly have different
// marks.
std::uint64_t mark_of(const SlotHeader& header) noexcept;

// Throws Error{InvalidArgument, "DistBackendError"}: "the ranks of group world make different calls: ranks 0, 1, 3 are
// in all_reduce number 7, sum, float32 [4] (train.cpp:88); rank 2 is in broadcast number 7, ...", with all ranks that
// have arrived.
[[noreturn]] void throw_mismatch(const Area& area, const GroupInfo& group, const Call& call, std::uint64_t exchange);
// Returns the same error for a rank that leaves before an exchange that others have passed without it.
Error missed_exchange(const Area& area, const GroupInfo& group, std::uint64_t exchange);
// Throws Error{InvalidArgument} for a part of another size than the taker expects.
[[noreturn]] void throw_wrong_size(const GroupInfo& group, const Call& call, int from, std::size_t sent,
                                   std::size_t taken);
// Throws Error{Disconnected, "DistBackendError"} for impossible values in the shared memory. `how`: "it shows a part
// outside its room".
[[noreturn]] void throw_broken(const GroupInfo& group, int place, const std::string& how, base::Location site);
// Throws base::PeerFailed because a missing rank has gone, or has failed according to its runner; PeerLeft
// (explain.hpp) if it has left the group. If a process of the group has ended, the error names its rank, and not those
// that left in consequence; other ranks are notified of that cause too.
[[noreturn]] void throw_gone(const Area& area, const GroupInfo& group, const std::string& what, base::Location site,
                             const std::vector<int>& missing);
// Does the same if a process of the group has ended without leaving; else returns.
void throw_if_dead(const Area& area, const GroupInfo& group, const std::string& what, base::Location site);

}  // namespace distrun::collectives::shm
