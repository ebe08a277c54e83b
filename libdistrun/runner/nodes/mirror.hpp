#pragma once
// A rank on another machine as the coordinator knows it: its node's last news. Its contents are checked
// when they arrive. Lives on: the coordinator's loop.
#include <optional>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/runner/nodes/messages.hpp>
#include <distrun/runner/proc/capture.hpp>

namespace distrun::nodes {

struct RankMirror {
  int pid = 0;  // 0: not started
  bool has_ended = false;
  std::optional<board::Shown> shown;
  std::optional<board::Dump> crash;
  base::Nanoseconds cpu_wait{};
  base::Nanoseconds cpu_time{};
  launch::ProcessState process;
  std::optional<launch::Moment> seen_at;  // its latest event
  proc::Captured out;
  proc::Captured err;

  // Takes what the node has told. `offset` is how far this machine's monotonic clock is ahead of the node's. Throws
  // Error{InvalidArgument} if a rank could not have shown that.
  void take(RankView view, base::Nanoseconds offset, int world_size);
};

// Returns the stacks with every index inside the table, and limits as those of a probe's; drops what is not. `host` is
// the number of their machine.
evidence::Stacks checked(evidence::Stacks stacks, int host);
// Adds the stacks of another machine.
void append(evidence::Stacks& all, evidence::Stacks more);

}  // namespace distrun::nodes
