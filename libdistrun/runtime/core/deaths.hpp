#pragma once
// Ranks of the test whose processes have ended, by what they show on the board: for the errors of those that wait for
// them. Where no board is, nothing is known. Any thread.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace distrun::core {

struct Death {
  int rank = -1;
  int pid = 0;
};

// Returns nothing for a rank that shows nothing, or whose process goes on.
std::optional<Death> death_of(int rank);
// Returns the first rank, by its number, whose process has ended though its test's body has not, and the test has not
// declared that.
std::optional<Death> first_death();
// Returns whether so many are all ranks of the test. A group of fewer may number them as it likes.
bool are_all_ranks(std::size_t count);
// Returns "rank 2 is gone: its process 4711 has ended".
std::string text_of(const Death& death);

// Returns "rank 2 (waits in receive "x" at a.cpp:7), rank 3 (its process 4711 has ended)": a rank of which nothing is
// known is its number alone.
std::string what_they_do(const std::vector<int>& ranks);

}  // namespace distrun::core
