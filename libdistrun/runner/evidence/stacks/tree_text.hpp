#pragma once
// The tree for people. Each group of threads is a block: who, and what they do; then its frames, innermost first, with
// the test's own innermost function strong at its top. Groups stand in the tree's reading order, so what differs is
// what one reads first. Where groups were called by the same functions of the test, a bracket joins them:
//
//   ┌ rank 1 (main thread, spinning)
//   │   spin_until_ready  ring.cpp:17
//   ├ ranks 0, 2-3 (main threads, waiting in futex)
//   │   wait_for_peer  ring.cpp:23
//   │     in std::condition_variable::wait, 4 library frames
//   └ all called by
//       Ring::run  ring_test.cpp:41
//         ... 9 frames of distrun and libraries
//
// Last come the threads of distrun itself in one line, and which sources did not answer. The same stacks give the same
// lines, in whatever order they were gathered; nothing in them can move a terminal's cursor.
#include <cstddef>
#include <vector>

#include <distrun/runner/evidence/stacks/frame_lines.hpp>
#include <distrun/runner/evidence/stacks/merge.hpp>
#include <distrun/runner/evidence/stacks/text_line.hpp>

namespace distrun::evidence {

struct TreeLimits {
  std::size_t lines = 200;  // of all; a line says what was left out
  FrameLimits frames;       // of each group
};

// `tree` is that of `stacks`.
std::vector<Line> tree_text(const Stacks& stacks, const StackTree& tree, const TreeLimits& limits = {});

}  // namespace distrun::evidence
