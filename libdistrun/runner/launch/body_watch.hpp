#pragma once
// Watches the ranks' bodies on the board, at intervals: nothing else shows that a body's thread has ended without its
// process, or that a child has done the rank's work while the rank waits. Lives on: the coordinator's loop.
#include <functional>
#include <memory>
#include <vector>

#include <distrun/common/board/board.hpp>
#include <distrun/common/io/loop.hpp>
#include <distrun/runner/launch/event_router.hpp>
#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/launch/rank_process.hpp>

namespace distrun::launch {

class BodyWatch {
 public:
  // Returns the process of a rank.
  using ProcessOf = std::function<RankProcess&(int rank)>;

  // `on_due` is called at the time of the next check, and calls look().
  BodyWatch(io::Loop& loop, WorldEvents& events, WorldShape shape, ProcessOf process_of, std::function<void()> on_due);

  // Call when a process has started.
  void begin();
  // Reports what is to be seen, and checks again while a process lives.
  void look(const board::Board& board);

 private:
  void look_for_stray_child(const board::Board& board, int rank);
  void look_for_lost_body(const board::Board& board, int rank);

  WorldEvents& events_;
  const WorldShape shape_;
  ProcessOf process_of_;
  std::vector<int> bodies_over_;  // by rank: how often the end of its body was seen
  std::vector<int> strays_seen_;  // by rank: how often a stray child was seen
  io::Alarm due_;
};

}  // namespace distrun::launch
