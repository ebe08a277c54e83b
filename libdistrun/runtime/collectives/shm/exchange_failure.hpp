#pragma once
// What keeps ranks from making an exchange, as errors that name them. All throw; places are those of the group.
#include <exception>
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/shm/area.hpp>

namespace distrun::collectives::shm {

// That of the card, but for what is its rank's own. True: both do the same.
bool is_same(const Card& a, const Card& b) noexcept;

// Cards that are not the same, but for their sizes, have other marks, all but surely.
std::uint64_t mark_of(const Card& card) noexcept;

// Error{InvalidArgument, "DistBackendError"}: "ranks do not call the same: ranks 0, 1, 3 are in all_reduce number 7 of
// group world, sum of float32 [4] (train.cpp:88); rank 2 in broadcast number 7, ...". Of all that have come to it.
[[noreturn]] void throw_mismatch(const Area& area, const GroupInfo& group, const Call& call, std::uint64_t exchange);
// The same of a rank that leaves without having come to that exchange, in which others have gone on without it.
Error missed_exchange(const Area& area, const GroupInfo& group, std::uint64_t exchange);
// Error{InvalidArgument}: parts of another size than whoever takes them has room for.
[[noreturn]] void throw_wrong_size(const GroupInfo& group, const Call& call, int from, std::size_t sent,
                                   std::size_t taken);
// Error{Disconnected, "DistBackendError"}: what a rank has written into the shared memory cannot be; `how`: "it shows a
// part outside its room".
[[noreturn]] void throw_broken(const GroupInfo& group, int place, const std::string& how, base::Location site);
// A rank that is waited for has left the group instead of calling what this one does.
class PeerLeft final : public base::PeerFailed {
 public:
  using PeerFailed::PeerFailed;
};
// base::PeerFailed: of those that do not come, one has gone; or, by its runner, one has failed. If a process of the
// group has ended, the error names that rank, whoever has gone in consequence; and who sees it is told so, too.
[[noreturn]] void throw_gone(const Area& area, const GroupInfo& group, const std::string& what, base::Location site,
                             const std::vector<int>& missing);
// The same if a process of the group has ended without having left; else returns.
void throw_if_dead(const Area& area, const GroupInfo& group, const std::string& what, base::Location site);
// Whether that is so because ranks do not call the same: one of the test's own faults, which must not pass for want of
// somebody who looks.
bool is_mismatch(const std::exception_ptr& error) noexcept;

}  // namespace distrun::collectives::shm
