#pragma once
// Who has not come to a barrier, as the board shows it to each rank: its bound alone doesn't say for whom it waited.
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/board/board.hpp>

namespace distrun::rank {

// A rank's coming to a barrier: it notes that as an operation whose id is the round.
struct Coming {
  std::string barrier;
  std::uint64_t round = 1;     // how often it has come there in this test, now included
  base::TimePoint test_began;  // or somewhat earlier
};

// Of the other ranks those that do not wait in the barrier and have not come to it so often: they have shown nothing of
// that since the test began. Without a board nobody is absent.
std::vector<int> absent_from(const board::RankBoard& board, int rank, int world_size, const Coming& coming);

// ": rank 1 has not come to it", ": ranks 1, 3 have not come to it"; empty if it is nobody.
std::string absent_text(const std::vector<int>& ranks);

}  // namespace distrun::rank
