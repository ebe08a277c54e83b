#pragma once
// Which ranks have a frame of the test on their stacks. In a hang, the ranks that are missing where most others are
// explain it: "ranks in [0-1, 3] | not in [2]".
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <distrun/runner/evidence/stacks/merge.hpp>

namespace distrun::evidence {

class FrameRanks {
 public:
  // `tree` must be that of `stacks`, and outlive this.
  FrameRanks(const Stacks& stacks, const StackTree& tree);

  // Returns the notes for the frames of a stack, outermost first, by index of the frame: for each frame of the test
  // that more than half of the ranks have but not all, unless an outer one has the same ranks.
  std::map<std::uint32_t, std::string> notes_of(const std::vector<std::uint32_t>& frames) const;

 private:
  using Ranks = std::vector<int>;

  std::string note_of(const Ranks& ranks) const;

  const StackTree& tree_;
  std::vector<Ranks> ranks_;  // of each frame of the tree, ascending; empty for frames that are not the test's
  Ranks all_;                 // ranks with stacks, ascending
};

}  // namespace distrun::evidence
