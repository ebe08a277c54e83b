#pragma once
// Explains why a collective does not finish: which ranks it waits for, and what they do instead.
#include <exception>
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/call.hpp>

namespace distrun::collectives {

// Returns "all_reduce number 7 of group world"; number 0 is the creation of the group.
std::string name_of(const GroupInfo& group, CallKind kind, std::uint64_t number);
// Returns "ring.cpp:88"; empty if the site is unknown.
std::string site_text(const char* file, std::uint32_t line);
// Returns what the board shows of the given group ranks: "rank 2 (waits in receive "x" (a.cpp:7) for rank 1), rank 3
// (has ended its test)".
std::string what_they_do(const GroupInfo& group, const std::vector<int>& places);
// Returns the world ranks of the given group ranks: "ranks 0, 2".
std::string ranks_text(const GroupInfo& group, const std::vector<int>& places);

// Return the text of an exception, and whether it is an Error of that kind.
std::string thrown_text(const std::exception_ptr& error);
bool is_of_kind(const std::exception_ptr& error, ErrorKind kind);

// Thrown if an awaited rank has left the group instead of making the same call.
class PeerLeft final : public base::PeerFailed {
 public:
  using PeerFailed::PeerFailed;
};
// Returns true if ranks made different calls. That is a bug in the test, which must fail even if the test ignores the
// error.
bool is_mismatch(const std::exception_ptr& error) noexcept;

// Returns the rank that caused the error; -1: unknown.
int cause_of(const std::exception& error) noexcept;

// Throws Error{Timeout, "DistBackendError"}: "all_reduce number 7 of group world has timed out after 30 s: it waits for
// rank 2 (...)".
[[noreturn]] void throw_timeout(const GroupInfo& group, const Call& call, const std::vector<int>& missing);

// The start of a group, as a call.
Call start_until(base::TimePoint deadline);

}  // namespace distrun::collectives
