#pragma once
// Finds children that a test has forked and that act in their rank's place: they have returned from the test's body, or
// have failed a check. Such a child notes itself on the rank's slot of the board (plugin/rank/stray_child.hpp), and its
// rank fails with an error of its own. Lives on: the coordinator's loop.
#include <optional>

#include <distrun/runner/attempt/failures.hpp>

namespace distrun::runner {

class StrayChildren {
 public:
  // Both must outlive this.
  StrayChildren(Ranks& ranks, Failures& failures) : ranks_(ranks), failures_(failures) {}

  // Looks for a child of the rank, which fails if there is one. Returns true if it is the rank's first.
  bool find(RankState& rank);
  // Looks at every rank. Returns whether one was found now.
  bool find_all();
  bool has_found() const;
  // Called at the end: the rank's error says the latest of the child, and comes first.
  void complete(RankState& rank) const;

 private:
  std::optional<RankError> look(const RankState& rank) const;

  Ranks& ranks_;
  Failures& failures_;
};

}  // namespace distrun::runner
