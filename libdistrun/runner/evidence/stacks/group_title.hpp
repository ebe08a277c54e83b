#pragma once
// Who stands somewhere, and what they do there: "ranks 0, 2-3 (main threads, waiting in futex)".
#include <string>
#include <vector>

#include <distrun/runner/evidence/stacks/merge.hpp>
#include <distrun/runner/evidence/stacks/text_line.hpp>

namespace distrun::evidence {

// "ranks 0, 2-3", "rank 1 and process 4711 \"sleep\"". By rank, as Group::holders are.
std::string who(const Stacks& stacks, const std::vector<Holder>& holders);

Line group_title(const Stacks& stacks, const Group& group);

// Below the title, before the frames: why there are none, and what the kernel says of where it is.
std::vector<Line> condition_lines(const Stacks& stacks, const Group& group);

}  // namespace distrun::evidence
