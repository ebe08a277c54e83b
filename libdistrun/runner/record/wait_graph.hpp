#pragma once
// The graph of waits between threads in a snapshot: the body of each rank, what it runs for others, and its other
// threads. Its edges come only from what was seen: on the board and, for mutexes, in the stacks.
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// A thread of a rank, or a stand-in: for a rank missing in the snapshot, or for a call that no thread runs.
struct WaitNode {
  int rank = 0;
  const board::ShownWait* handler = nullptr;  // what it runs for another rank; null: nothing
  const board::ShownWait* wait = nullptr;     // what it waits in; null: no wait is shown
  const wire::ThreadStack* stack = nullptr;   // null: not in the snapshot
  std::vector<int> awaited;                   // ranks, according to `wait`
  std::vector<std::size_t> next;              // nodes that it waits for; empty: none
};

// Nodes that block each other, directly or not, and that no other node blocks: a node that does not wait, or a cycle.
using WaitEnd = std::vector<std::size_t>;

class WaitGraph {
 public:
  // `look` must outlive this.
  explicit WaitGraph(const Snapshot& snapshot);

  const WaitNode& node(std::size_t index) const { return nodes_[index]; }
  // Returns whether a signal has stopped the rank's process: then none of its threads waits for another.
  bool is_stopped(int rank) const { return stopped_.contains(rank); }
  // Returns null if the rank is not in the snapshot.
  const WaitNode* body_of(int rank) const;
  // Returns where the waits of these ranks' bodies end, ignoring ranks that are not in the snapshot.
  std::vector<WaitEnd> ends_from(const std::vector<int>& ranks) const;

 private:
  static constexpr int kBody = 0;  // instead of a thread's id
  static constexpr int kNobody = -1;

  std::size_t at(int rank, int thread);
  std::size_t body_or_nobody(int rank);
  void add_threads(const RankView& view);
  void add_stacks(const evidence::Process& process);
  std::vector<std::size_t> next_of(std::size_t index);
  std::vector<std::size_t> holder_of_mutex(const WaitNode& node) const;
  std::vector<std::size_t> threads_for_others(int rank) const;
  std::vector<std::size_t> stopped_peers(const WaitNode& node) const;
  std::vector<std::size_t> callees(int caller, const board::ShownWait& wait, int rank);
  std::vector<std::size_t> idle_bodies() const;

  const Snapshot& snapshot_;
  std::map<std::pair<int, int>, std::size_t> places_;  // by rank and thread
  std::map<int, int> body_tids_;                       // by rank, where known
  std::set<int> stopped_;                              // ranks
  std::vector<WaitNode> nodes_;
};

}  // namespace distrun::runner
