#pragma once
// When a batch system ends a job, it signals all of the job's processes: the run, nodes, and ranks, too. The deaths of
// ranks may be the first news of that, and must not be taken for failures of the test. Lives on: the coordinator's
// loop.
#include <functional>

#include <distrun/runner/attempt/ranks.hpp>

namespace distrun::runner {

class JobPatience {
 public:
  // `on_over` is called when the patience ends. `ranks` must outlive this.
  JobPatience(Ranks& ranks, std::function<void()> on_over);

  // Call when all ranks have ended. Returns whether a cancellation may follow: in a job, if ranks have died by SIGTERM.
  // The patience begins with the first call, and takes 0.3 s.
  bool should_wait();

 private:
  Ranks& ranks_;
  io::Alarm alarm_;
  base::TimePoint end_ = base::TimePoint::max();  // max(): it has not begun
};

}  // namespace distrun::runner
