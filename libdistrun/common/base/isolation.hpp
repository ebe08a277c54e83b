#pragma once
// How the ranks of a test are isolated from the ranks of other tests and from each other.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace distrun::base {

// What separates a rank from other ranks and from those of other tests: `--isolation`.
enum class Isolation : std::uint8_t {
  Process,  // forked for every attempt
  Exec,     // started by exec for every attempt
  Pool,     // one set of ranks runs all tests of a suite
  Threads,  // like Pool, with threads of one process
  Program,  // a user's program instead of a plugin; only for `distrun exec`
};

inline constexpr int kIsolationCount = 5;  // enumerators of Isolation

// The values that a run or a test may ask for, in the order in which messages list them.
inline constexpr std::array kIsolations{Isolation::Process, Isolation::Exec, Isolation::Pool, Isolation::Threads};

// Returns whether ranks are persistent, that is, run several tests.
inline bool ranks_stay(Isolation isolation) noexcept {
  return isolation == Isolation::Pool || isolation == Isolation::Threads;
}

const char* name_of(Isolation isolation) noexcept;                        // "process"
std::optional<Isolation> find_isolation(std::string_view name) noexcept;  // nullopt for another name
// Throws Error{InvalidArgument} for another name.
Isolation parse_isolation(std::string_view name);

}  // namespace distrun::base

namespace distrun {
using base::Isolation;
}  // namespace distrun
