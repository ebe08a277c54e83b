#pragma once
// A rank's seat at the board, and the part of the C line that leads there: what a runtime within the plugin shows of
// the rank's waits, and sees of its peers.
#include <distrun/plugin/sdk/plugin.h>
#include <distrun/common/board/board.hpp>
#include <distrun/common/board/slot_writer.hpp>

namespace distrun::rank {

// Lives until the process ends, whatever test runs.
struct Seat {
  // Throws Error{Failed} if `fd` holds no board for that many ranks.
  Seat(int fd, int rank, int ranks) : board(fd, rank, ranks), writer(board.own()), world_size(ranks) {}

  board::RankBoard board;
  board::SlotWriter writer;
  int world_size;
};

// The fields `waits` to `look_at_peer` of it, for that seat.
void fill_in_seat(distrun_rank& api, Seat& seat);

}  // namespace distrun::rank
