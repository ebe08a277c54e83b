#pragma once
// Describes the threads of a group and what they are doing: "ranks 0, 2-3 (main threads, waiting in futex)".
#include <string>
#include <vector>

#include <distrun/runner/evidence/stacks/merge.hpp>
#include <distrun/runner/evidence/stacks/text_line.hpp>

namespace distrun::evidence {

// Returns "ranks 0, 2-3", "rank 1 and process 4711 \"sleep\"". Sorted by rank, as Group::holders are.
std::string who(const Stacks& stacks, const std::vector<Holder>& holders);

Line group_title(const Stacks& stacks, const Group& group);

// Returns the lines between title and frames: why there are no frames, and the kernel's view.
std::vector<Line> condition_lines(const Stacks& stacks, const Group& group);

}  // namespace distrun::evidence
