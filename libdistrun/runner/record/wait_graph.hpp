#pragma once
// Who waits for whom, thread by thread, as one look saw it: the body of each rank, what it runs for others, and its
// other threads. An edge claims only what was seen: on the board, and of mutexes in the stacks.
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// A thread of a rank; or what stands for one: for a rank that the look did not see, or a call that nobody runs.
struct WaitNode {
  int rank = 0;
  const board::ShownWait* handler = nullptr;  // what it runs for another rank; null: nothing
  const board::ShownWait* wait = nullptr;     // in which it waits; null: in nothing that is shown
  const wire::ThreadStack* stack = nullptr;   // null: nobody has seen it
  std::vector<int> awaited;                   // ranks, by what `wait` shows
  std::vector<std::size_t> next;              // nodes that hold it up; empty: it waits for nobody
};

// Nodes that hold each other up, directly or not, and that nobody else does: one that waits for nobody, or a circle.
using WaitEnd = std::vector<std::size_t>;

class WaitGraph {
 public:
  // `look` must outlive it.
  explicit WaitGraph(const Look& look);

  const WaitNode& node(std::size_t index) const { return nodes_[index]; }
  // Whether the process of that rank was stopped by a signal: none of its threads waits for anybody then.
  bool is_stopped(int rank) const { return stopped_.contains(rank); }
  // Null if the look did not see that rank.
  const WaitNode* body_of(int rank) const;
  // Where the waits of these ranks' bodies end. Of ranks that the look did not see nothing.
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

  const Look& look_;
  std::map<std::pair<int, int>, std::size_t> places_;  // by rank and thread
  std::map<int, int> body_tids_;                       // by rank, as far as they are known
  std::set<int> stopped_;                              // ranks
  std::vector<WaitNode> nodes_;
};

}  // namespace distrun::runner
