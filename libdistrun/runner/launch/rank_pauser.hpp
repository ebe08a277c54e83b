#pragma once
// Stops one rank after the other for a moment (SIGSTOP, SIGCONT), at random, for stress runs: the others meet a slow
// rank. Lives on: the loop of the ranks' machine.
#include <functional>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/common/io/loop.hpp>

namespace distrun::launch {

// Ranks are paused only for so long after their test began: to be paused again and again would disturb the search for
// the reason of a hang.
inline constexpr base::Nanoseconds kPausableFor = std::chrono::seconds(1);

class RankPauser {
 public:
  // `living` returns the processes of the ranks that live now. It must outlive this.
  RankPauser(io::Loop& loop, std::function<std::vector<pid_t>()> living, std::uint64_t seed);
  // Continues the rank that is stopped now.
  ~RankPauser();
  RankPauser(const RankPauser&) = delete;
  RankPauser& operator=(const RankPauser&) = delete;

 private:
  void turn();
  void stop_one();
  void let_go();

  std::function<std::vector<pid_t>()> living_;
  base::Rng rng_;
  base::Fd stopped_;  // the process that is stopped now
  io::Alarm alarm_;
};

}  // namespace distrun::launch
