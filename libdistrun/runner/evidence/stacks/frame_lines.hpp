#pragma once
// Frames as lines, innermost first. What stays are the test's own frames; runs of library and distrun frames are a
// line each, recursion is told once with its count, and of a long stack the middle is left out.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <distrun/runner/evidence/stacks/merge.hpp>
#include <distrun/runner/evidence/stacks/source_names.hpp>
#include <distrun/runner/evidence/stacks/text_line.hpp>

namespace distrun::evidence {

struct FrameLimits {
  std::size_t lines = 16;
  std::size_t name = 80;  // bytes of a function's name
};

// The frames [from, to) of a group. `is_innermost`: none comes before them, so the first of the test's own is the one
// to look at, and what that has called is told beneath it.
struct FrameRange {
  const std::vector<std::uint32_t>& frames;  // outermost first, as in Group
  std::size_t from;
  std::size_t to;
  bool is_innermost;
};

std::vector<Line> frame_lines(const StackTree& tree, const SourceNames& names, const FrameRange& range,
                              const FrameLimits& limits);

}  // namespace distrun::evidence
