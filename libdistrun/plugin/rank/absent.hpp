#pragma once
// Finds on the board which ranks have not arrived at a barrier, for the error of a barrier that times out.
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/board/board.hpp>

namespace distrun::rank {

// A rank's arrival at a barrier, which it records as an operation with the round as its id.
struct Coming {
  std::string barrier;
  std::uint64_t round = 1;     // how many times it has arrived in this test, including now
  base::TimePoint test_began;  // or somewhat earlier
};

// Returns the other ranks that neither wait in the barrier nor have recorded this arrival in this test. Empty without a
// board. With `several_hosts` a rank that shows nothing may run on another host, which the board does not reach: it is
// left out.
std::vector<int> absent_from(const board::RankBoard& board, int rank, int world_size, const Coming& coming,
                             bool several_hosts = false);

// Returns ": rank 1 has not arrived", ": ranks 1, 3 have not arrived"; empty for no ranks.
std::string absent_text(const std::vector<int>& ranks);

}  // namespace distrun::rank
