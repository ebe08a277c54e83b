#pragma once
// Why a collective does not come to its end, in words: which ranks, and what they do instead.
#include <exception>
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/call.hpp>

namespace distrun::collectives {

// "all_reduce number 7 of group world"; number 0 is the start of the group.
std::string name_of(const GroupInfo& group, CallKind kind, std::uint64_t number);
// "ring.cpp:88"; empty if it is not known.
std::string site_text(const char* file, std::uint32_t line);
// "rank 2 (waits in receive "x" (a.cpp:7) for rank 1), rank 3 (has ended its test)": by what the board shows. `places`
// are those of the group.
std::string what_they_do(const GroupInfo& group, const std::vector<int>& places);
// Of places, the ranks as the runner counts them: "ranks 0, 2".
std::string ranks_text(const GroupInfo& group, const std::vector<int>& places);

// What somebody has thrown: its text, and whether it is an Error of that kind.
std::string thrown_text(const std::exception_ptr& error);
bool is_of_kind(const std::exception_ptr& error, ErrorKind kind);

// The rank from which an error follows; -1: none is known.
int cause_of(const std::exception& error) noexcept;

// Error{Timeout, "DistBackendError"}: "all_reduce number 7 of group world has timed out after 30 s: it waits for rank 2
// (...)".
[[noreturn]] void throw_timeout(const GroupInfo& group, const Call& call, base::TimePoint begin,
                                const std::vector<int>& missing);

}  // namespace distrun::collectives
