#pragma once
// The edges of waits that ranks show on the board: which threads of which ranks can end them.
#include <optional>

#include <distrun/runner/record/doctor/roster.hpp>
#include <distrun/runner/record/doctor/things.hpp>

namespace distrun::runner::doctor {

class BoardEdges {
 public:
  // All must outlive this.
  BoardEdges(const Graph& graph, Roster& roster, Things& things) : graph_(graph), roster_(roster), things_(things) {}

  // Returns the wait that the thread shows; nullopt if it shows none.
  std::optional<Wait> wait_of(std::size_t thread);
  // Returns threads of the rank that wait for other ranks on its behalf, not for a caller.
  Indices threads_for_others(int rank) const;

 private:
  void add_peer(Wait& wait, std::size_t thread, int rank);
  void add_callee(Wait& wait, std::size_t thread, int rank);
  void set_open(Wait& wait, const board::ShownWait& shown) const;
  Indices stopped_peers(const board::ShownWait& shown);

  const Graph& graph_;
  Roster& roster_;
  Things& things_;
};

}  // namespace distrun::runner::doctor
