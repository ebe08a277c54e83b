#pragma once
// The load on a machine that runs ranks, for stress runs: busy threads, and ranks that are paused. The same plan gives
// the same load, as far as it depends on random numbers. Lives on: the loop of that machine.
#include <functional>
#include <optional>
#include <vector>

#include <distrun/runner/launch/load_maker.hpp>
#include <distrun/runner/launch/rank_pauser.hpp>

namespace distrun::launch {

class MachineLoad {
 public:
  // `living` returns the processes of ranks that may be paused now. Throws Error{Overloaded} if there is no thread for
  // the load.
  MachineLoad(io::Loop& loop, const LoadPlan& plan, int cores, std::function<std::vector<pid_t>()> living)
      : threads_(plan, cores) {
    if (plan.pause) pauser_.emplace(loop, std::move(living), plan.seed);
  }

 private:
  LoadMaker threads_;
  std::optional<RankPauser> pauser_;
};

}  // namespace distrun::launch
