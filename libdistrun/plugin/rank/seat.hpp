#pragma once
// A rank's seat at the board, and the part of the C line that leads there: what a runtime within the plugin shows of
// the rank's waits, and sees of its peers.
#include <array>
#include <cstdint>

#include <distrun/plugin/sdk/plugin.h>
#include <distrun/common/board/board.hpp>
#include <distrun/common/board/slot_writer.hpp>
#include <distrun/common/trace/writer.hpp>

namespace distrun::rank {

// Lives until the process ends, whatever test runs.
struct Seat {
  // Throws Error{Failed} if `fd` holds no board for that many ranks.
  Seat(int fd, int rank, int ranks) : board(fd, rank, ranks), writer(board.own()), world_size(ranks) {}

  // A wait of the calling thread, on the board and in the trace; its number there is its cell's here.
  std::int32_t begin_wait(const board::WaitInfo& info, base::TimePoint deadline) noexcept;
  void end_wait(std::int32_t number) noexcept;

  board::RankBoard board;
  board::SlotWriter writer;
  trace::Writer trace;
  int world_size;

 private:
  std::array<std::uint64_t, board::kWaits> slices_{};  // by cell; each is whoever's who has the cell
};

// The fields of it whose functions take `waits`, for that seat.
void fill_in_seat(distrun_rank& api, Seat& seat);

}  // namespace distrun::rank
