#include <distrun/runner/launch/body_watch.hpp>

#include <utility>

#include <distrun/common/board/body_life.hpp>
#include <distrun/runner/proc/process_tree.hpp>

namespace distrun::launch {
namespace {

constexpr auto kPause = std::chrono::milliseconds(100);
constexpr int kStraySights = 10;
constexpr const char* kBodyIsOver =
    "the thread of its body ended without a result; it called pthread_exit(), or a system call filter killed it";

}  // namespace

BodyWatch::BodyWatch(io::Loop& loop, WorldEvents& events, WorldShape shape, ProcessOf process_of,
                     std::function<void()> on_due)
    : events_(events),
      shape_(shape),
      process_of_(std::move(process_of)),
      bodies_over_(static_cast<std::size_t>(shape.world_size)),
      strays_seen_(static_cast<std::size_t>(shape.world_size)),
      due_(loop, std::move(on_due)) {}

void BodyWatch::begin() { due_.set_after(kPause); }

// Checks two words of the board for each rank.
void BodyWatch::look(const board::Board& board) {
  const int end = shape_.first + shape_.here;
  bool any_alive = false;
  for (int rank = shape_.first; rank < end && !any_alive; ++rank) any_alive = process_of_(rank).is_alive();
  if (!any_alive) return;
  begin();
  for (int rank = shape_.first; rank < end; ++rank) {
    if (process_of_(rank).has_ended()) continue;
    look_for_stray_child(board, rank);
    look_for_lost_body(board, rank);
  }
}

// Gives the rank a while to end by itself, which is more informative.
void BodyWatch::look_for_stray_child(const board::Board& board, int rank) {
  if (board.slot(rank).stray_child.load(std::memory_order_relaxed) == 0) return;
  if (++strays_seen_[static_cast<std::size_t>(rank)] >= kStraySights) events_.on_stray_child(rank);
}

// Reported the second time it is seen: a process that is ending briefly looks the same.
void BodyWatch::look_for_lost_body(const board::Board& board, int rank) {
  const RankProcess& process = process_of_(rank);
  if (!process.is_connected()) return;  // a closed connection has been reported
  if (!board::body_life(board.slot(rank)).is_over()) return;
  int& seen = bodies_over_[static_cast<std::size_t>(rank)];
  if (seen > 1 || proc::is_ending(process.pid()) || ++seen < 2) return;
  events_.on_connection_lost(rank, kBodyIsOver);
}

}  // namespace distrun::launch
