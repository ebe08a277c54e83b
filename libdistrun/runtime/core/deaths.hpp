#pragma once
// Finds ranks of the test with ended processes, by what they show on the board, for the errors of ranks that wait for
// them. Without a board nothing is known. Any thread.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <distrun/runtime/core/rank_state.hpp>

namespace distrun::core {

// Returns nothing for a rank that shows nothing, or that is alive.
std::optional<Death> death_of(int rank);
// Returns the lowest rank with a process that has ended before the test body, unless the test has declared that.
std::optional<Death> first_death();
// Returns whether the test has `count` ranks. A group with fewer may number them differently.
bool are_all_ranks(std::size_t count);
// Returns "rank 2 is gone: its process 4711 has ended".
std::string text_of(const Death& death);

// Returns "rank 2 (waits in receive "x" at a.cpp:7), rank 3 (its process 4711 has ended)". A rank with unknown state is
// only a number.
std::string what_they_do(const std::vector<int>& ranks);

}  // namespace distrun::core
