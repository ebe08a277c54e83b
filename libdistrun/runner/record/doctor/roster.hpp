#pragma once
// The threads of a snapshot, each once, with everything that was seen of it: on the board and in the stacks. Fills
// Graph::threads, Graph::bodies and Graph::parties; threads keep their indices.
#include <map>
#include <set>
#include <vector>

#include <distrun/runner/record/doctor/frame_classes.hpp>
#include <distrun/runner/record/doctor/graph.hpp>
#include <distrun/runner/record/doctor/machines.hpp>

namespace distrun::runner::doctor {

// Holds pointers to the parts of the snapshot that describe a thread; parallel to Graph::threads.
struct Seen {
  const board::ShownWait* wait = nullptr;     // what it waits in; null: no wait is shown
  const board::ShownWait* handler = nullptr;  // what it runs for another rank
  const wire::ThreadStack* stack = nullptr;
  std::vector<int> awaited;  // ranks, according to `wait`
};

class Roster {
 public:
  // Both must outlive this.
  Roster(const Snapshot& snapshot, Graph& graph);

  const Seen& seen(std::size_t thread) const { return seen_[thread]; }
  std::size_t size() const noexcept { return seen_.size(); }
  bool has_rank(int rank) const { return bodies_.contains(rank); }
  // Returns the thread of the rank's body; if the rank is not in the snapshot, a thread that has ended.
  std::size_t body(int rank);
  // Returns a thread that stands for the one that has yet to begin a call.
  std::size_t idle(int rank);
  // Returns the threads of the rank, its body first.
  Indices threads_of(int rank) const;
  // Returns the threads of the process, its main thread first; empty if the process is not in the snapshot.
  Indices threads_in(int host, int pid) const;
  const std::size_t* find(const ThreadId& id) const;
  // Returns the party of all threads that can act for the rank.
  std::size_t party_of(int rank);
  std::size_t add_party(Party party);
  // Returns whether a signal or a debugger has stopped the rank's process.
  bool is_stopped(int rank) const;

 private:
  std::size_t add(int rank, const ThreadId& id);
  void add_view(const RankView& view);
  void add_process(const evidence::Process& process);
  void add_stack(const evidence::Process& process, const wire::ThreadStack& stack);
  void describe(std::size_t thread, const evidence::Process& process, const wire::ThreadStack& stack);
  void set_wait(std::size_t thread, const board::ShownWait* wait);
  Party find_party(int rank);

  const Snapshot& snapshot_;
  Graph& graph_;
  Machines machines_;
  FrameClasses classes_;
  std::vector<Seen> seen_;
  std::map<ThreadId, std::size_t> by_id_;
  std::map<int, std::size_t> bodies_;  // by rank, as all that follow
  std::map<int, std::size_t> idle_;
  std::map<int, std::size_t> parties_;
  std::map<int, Indices> of_rank_;  // threads of the rank and of its descendants
  std::set<int> known_;             // ranks with stacks
};

}  // namespace distrun::runner::doctor
