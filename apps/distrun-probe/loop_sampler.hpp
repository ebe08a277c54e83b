#pragma once
// Copies the registers of threads that run, several times between two samples of a session: they tell whether a loop
// waits or computes (busy_wait.hpp). Main thread only.
#include <sys/types.h>

#include <map>
#include <vector>

#include <distrun/common/base/clock.hpp>

#include "mappings.hpp"
#include "motion.hpp"
#include "registers.hpp"
#include "stopper.hpp"

namespace distrun::probe {

class LoopSampler {
 public:
  using Tids = std::vector<pid_t>;

  // All must outlive this. `mappings` are by process, `histories` by thread.
  LoopSampler(Stopper& stopper, std::map<pid_t, Mappings>& mappings, std::map<pid_t, MotionHistory>& histories)
      : stopper_(stopper), mappings_(mappings), histories_(histories) {}

  // Takes copies until `end` of all threads that had or wanted a CPU at the last sample.
  void take(base::TimePoint end);
  // Takes more of those that still run but have too few, because CPUs are scarce, within about this time.
  void take_missing(base::Milliseconds limit);
  // Stops the threads, and adds the time of the stop to their histories.
  void stop_again(const Tids& tids, base::TimePoint deadline);

 private:
  Tids running();
  void take_one(const Tids& tids, base::TimePoint deadline);
  LoopSample sample_of(pid_t pid, pid_t tid, const Registers& registers);

  Stopper& stopper_;
  std::map<pid_t, Mappings>& mappings_;
  std::map<pid_t, MotionHistory>& histories_;
};

}  // namespace distrun::probe
