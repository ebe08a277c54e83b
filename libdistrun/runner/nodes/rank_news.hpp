#pragma once
// The news of a node's ranks of a world for its coordinator: what they show on the board, their CPU times, the state of
// their processes. Looks ten times a second while ranks live, and tells what has changed.
//
// The board is memory, and a process's CPU time is one system call. The rest costs files of /proc. It changes only if
// the process runs: it uses CPU time when it is stopped, traced or ended, and when it gets a CPU that it has waited
// for. So it is read again if CPU time was used, and once a second. Lives on: the node's loop.
#include <functional>
#include <memory>
#include <vector>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/nodes/messages.hpp>

namespace distrun::nodes {

class RankNews {
 public:
  // The ranks are those from `first` on, `count` of them. `tell` sends what has changed.
  RankNews(io::Loop& loop, const launch::World& world, int first, int count,
           std::function<void(std::vector<RankView>)> tell);

  // Call when a rank has started.
  void begin();
  // Call when the last rank has ended.
  void end() { due_.cancel(); }
  // Tells what has changed up to now.
  void tell_now();
  // Return all that is known at this moment.
  RankView view_of(int rank);
  std::vector<RankView> views();

 private:
  struct Told {
    base::Nanoseconds cpu_time{-1};  // when /proc was read
    base::TimePoint read_at;
    std::int64_t cpu_wait_ns = 0;  // from there
    launch::ProcessState process;
    bool has_crash = false;
    wire::Bytes view;  // the last one, encoded
  };
  // `is_forced`: reads /proc in any case.
  RankView look(int rank, bool is_forced);
  void tell(bool is_forced);

  io::Loop& loop_;
  const launch::World& world_;
  const int first_;
  std::vector<Told> told_;
  std::function<void(std::vector<RankView>)> tell_;
  io::Alarm due_;  // of the next look
};

}  // namespace distrun::nodes
