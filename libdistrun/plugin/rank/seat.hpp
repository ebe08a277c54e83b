#pragma once
// A rank's access to the board, and the part of the C interface for it: how a runtime within the plugin shows the
// rank's waits and sees its peers.
#include <array>
#include <cstdint>

#include <distrun/plugin/sdk/plugin.h>
#include <distrun/common/board/board.hpp>
#include <distrun/common/board/slot_writer.hpp>
#include <distrun/common/trace/writer.hpp>

namespace distrun::rank {

// Lives until the process ends, across tests.
struct Seat {
  // Throws Error{Failed} if `fd` does not hold a board for `ranks` ranks.
  Seat(int fd, int rank, int ranks) : board(fd, rank, ranks), writer(board.own()), world_size(ranks) {}

  // Begins a wait of the calling thread, on the board and in the trace. Returns the number of its board cell.
  std::int32_t begin_wait(const board::WaitInfo& info, base::TimePoint deadline) noexcept;
  void end_wait(std::int32_t number) noexcept;

  board::RankBoard board;
  board::SlotWriter writer;
  trace::Writer trace;
  int world_size;

 private:
  std::array<std::uint64_t, board::kWaits> slices_{};  // by board cell; each belongs to the thread that holds the cell
};

// Sets the functions of `api` that take `waits`, for that seat.
void fill_in_seat(distrun_rank& api, Seat& seat);

}  // namespace distrun::rank
