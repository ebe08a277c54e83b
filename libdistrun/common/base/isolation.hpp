#pragma once
// How the ranks of a test are kept apart from those of other tests, and from each other.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace distrun::base {

enum class Isolation : std::uint8_t {
  Process,  // forked for every attempt
  Exec,     // started anew for every attempt
  Pool,     // one set of ranks runs all tests of a suite
  Threads,  // the same, as threads of one process
  Program,  // somebody's program, and no plugin: of `distrun exec` alone
};

inline constexpr int kIsolationCount = 5;

// Those that a run or a test may ask for, in the order in which they are told.
inline constexpr std::array kIsolations{Isolation::Process, Isolation::Exec, Isolation::Pool, Isolation::Threads};

// Whether ranks stay from one test to the next.
inline bool ranks_stay(Isolation isolation) noexcept {
  return isolation == Isolation::Pool || isolation == Isolation::Threads;
}

const char* name_of(Isolation isolation) noexcept;  // "process"
std::optional<Isolation> find_isolation(std::string_view name) noexcept;
// Throws Error{InvalidArgument} for another name.
Isolation parse_isolation(std::string_view name);

}  // namespace distrun::base

namespace distrun {
using base::Isolation;
}  // namespace distrun
