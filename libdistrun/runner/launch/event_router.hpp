#pragma once
// Turns the events of processes into those of ranks. A process is one rank, or all of them if they are threads: then it
// finds out which rank has ended the process. Lives on: the coordinator's loop.
#include <string>
#include <vector>

#include <distrun/runner/launch/node.hpp>

namespace distrun::launch {

// How the ranks of a world are spread over processes, and what these are.
struct WorldShape {
  int world_size = 1;
  bool threads = false;  // one process for all ranks
  bool program = false;  // ranks become programs, which send nothing
  int first = 0;         // rank of the first process
  int here = 1;          // ranks of these processes; the others run elsewhere

  int processes() const noexcept { return threads ? 1 : here; }
  int rank_of(int process) const noexcept { return first + process; }  // not of threads
  bool has(int rank) const noexcept { return rank >= first && rank - first < here; }
};

class EventRouter {
 public:
  // `world` shows what ranks do. Both must outlive this.
  EventRouter(WorldEvents& events, const World& world, WorldShape shape)
      : events_(events), world_(world), shape_(shape) {}

  void started(int process, pid_t pid);
  void frame(int process, const wire::Frame& frame);
  void lost(int process, const std::string& why);
  void ended(int process, proc::ExitStatus status);

 private:
  struct End {
    int rank = -1;            // the rank that has ended the process; -1: unknown, or no rank
    proc::ExitStatus status;  // how that rank ended, which may differ from the process's status
  };
  std::vector<int> ranks_of(int process) const;
  End end_of(proc::ExitStatus status) const;

  WorldEvents& events_;
  const World& world_;
  const WorldShape shape_;
};

}  // namespace distrun::launch
