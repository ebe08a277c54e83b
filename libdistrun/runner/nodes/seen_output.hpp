#pragma once
// The output of a program's ranks as far as a report needs it: their nodes send all of it while they run. Lives on: the
// coordinator's loop.
#include <array>
#include <vector>

#include <distrun/runner/nodes/messages.hpp>
#include <distrun/runner/proc/capture.hpp>

namespace distrun::nodes {

class SeenOutput {
 public:
  // `keep_all`: up to the same limit as on one machine; otherwise only the end of standard error.
  void begin(std::size_t ranks, bool keep_all);
  bool has_begun() const noexcept { return !by_rank_.empty(); }

  // The rank must be one of those.
  void add(const OutputPiece& piece);
  proc::Captured of(int rank, launch::Stream stream) const;

 private:
  std::vector<std::array<proc::Capture, 2>> by_rank_;  // and by stream
};

}  // namespace distrun::nodes
