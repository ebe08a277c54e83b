#pragma once
// Which CPUs a rank runs on (--bind). The usable cores, or NUMA nodes, are divided among the lanes of a run, and those
// of a lane among the ranks of its test, as evenly as possible and in order; so ranks of tests that run at the same
// time share none, as long as there are enough. A rank gets all hardware threads of its cores.
//
// The topology is read from sysfs; a CPU that is not described there counts as a core of its own on node 0.
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// A bound rank sees its own CPUs only, and has to know whether its peers have some, too (runtime/core/cpus.hpp).
inline constexpr char kCpusVariable[] = "DISTRUN_CPUS";

struct Core {
  std::vector<int> cpus;  // its usable hardware threads, ascending
  int node = 0;           // NUMA node
};

// Returns the cores that `usable` CPUs belong to, by node and then by first CPU. `devices` is the folder that the
// kernel calls /sys/devices/system.
std::vector<Core> read_cores(const std::vector<int>& usable, const std::string& devices = "/sys/devices/system");

// The CPUs of one lane of a run (run/lane.hpp), for its tests. Default: no lane, and ranks are not bound.
class LaneCpus {
 public:
  LaneCpus() = default;
  // The share of lane `lane` of `lanes`. Core: ranks get cores; Numa: each gets one node.
  LaneCpus(Bind bind, const std::vector<Core>& cores, int lane, int lanes);

  // Returns the number of the lane; -1: none.
  int lane() const noexcept { return lane_; }
  // Returns the CPUs of rank `rank` of `ranks` as "0-3,8"; empty: it may run on any.
  std::string of(int rank, int ranks) const;
  // Returns how many CPUs the ranks of a test have together; 0: they are not bound.
  int count(int ranks) const;

 private:
  std::vector<int> cpus_of(int rank, int ranks) const;

  int lane_ = -1;
  std::vector<std::vector<int>> units_;  // the CPUs of each core or node
  bool one_each_ = false;                // a rank gets one of the units, even if there are more
};

// Returns the shares of all lanes. They bind no rank with Bind::None, or if the kernel does not tell which CPUs
// are usable.
std::vector<LaneCpus> bind_lanes(Bind bind, int lanes);

}  // namespace distrun::runner
