#pragma once
// Formats the tree as text. Each group of threads is a block: a title with the threads and what they are doing, then
// the frames, innermost first, with the test's innermost function emphasised at the top. Groups are in the tree's
// reading order, so the one that differs comes first. A bracket joins groups called by the same functions of the test:
//
//   ┌ rank 1 (main thread, spinning)
//   │   spin_until_ready  ring.cpp:17
//   ├ ranks 0, 2-3 (main threads, waiting in futex)
//   │   wait_for_peer  ring.cpp:23  ranks in [0, 2-3] | not in [1]
//   │     in std::condition_variable::wait, 4 library frames
//   └ all called by
//       Ring::run  ring_test.cpp:41
//         ... 9 frames of distrun and libraries
//
// The last lines name distrun's own threads and the sources that did not answer. Equal stacks give equal lines, in any
// order of collection; no line can move a terminal's cursor.
#include <cstddef>
#include <vector>

#include <distrun/runner/evidence/stacks/frame_lines.hpp>
#include <distrun/runner/evidence/stacks/merge.hpp>
#include <distrun/runner/evidence/stacks/text_line.hpp>

namespace distrun::evidence {

struct TreeLimits {
  std::size_t lines = 200;  // in total; a line says what was omitted
  FrameLimits frames;       // per group
};

// `tree` must be that of `stacks`.
std::vector<Line> tree_text(const Stacks& stacks, const StackTree& tree, const TreeLimits& limits = {});

}  // namespace distrun::evidence
