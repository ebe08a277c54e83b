#pragma once
// Formats frames as lines, innermost first. The test's own frames are kept; a run of library and distrun frames becomes
// one line, recursion is shown once with its count, and the middle of a long stack is omitted. A frame that most ranks
// have says which ones, and which do not.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <distrun/runner/evidence/stacks/frame_ranks.hpp>
#include <distrun/runner/evidence/stacks/merge.hpp>
#include <distrun/runner/evidence/stacks/source_names.hpp>
#include <distrun/runner/evidence/stacks/text_line.hpp>

namespace distrun::evidence {

struct FrameLimits {
  std::size_t lines = 16;
  std::size_t name = 80;  // bytes of a function name
};

// The frames [from, to) of a group. `is_innermost`: the range includes the innermost frame, so its first frame of the
// test is the one to look at, and what that frame called is shown below it.
struct FrameRange {
  const std::vector<std::uint32_t>& frames;  // outermost first, as in Group
  std::size_t from;
  std::size_t to;
  bool is_innermost;
};

std::vector<Line> frame_lines(const StackTree& tree, const SourceNames& names, const FrameRanks& ranks,
                              const FrameRange& range, const FrameLimits& limits);

}  // namespace distrun::evidence
