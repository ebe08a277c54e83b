#pragma once
// Converts times of a node's clock that lie in an interval. Clocks drift apart, so if the offset is known at both ends
// of the interval, it is taken to change evenly in between. An offset at the beginning that is known worse than the
// drift could have made it is not used.
#include <optional>

#include <distrun/runner/nodes/clock_offset.hpp>

namespace distrun::nodes {

// How far this machine's clock is ahead of the node's, at a time of this machine's clock.
struct ClockMark {
  Offset ahead;
  base::TimePoint at{};
};

class ClockLine {
 public:
  ClockLine(const std::optional<ClockMark>& begin, const ClockMark& end);

  // Returns the time by this machine's clock. Returns times that are not known there unchanged.
  std::int64_t here(std::int64_t there_ns) const noexcept;
  // Returns the largest error of a returned time in the interval, in either direction.
  base::Nanoseconds error() const noexcept { return error_; }

 private:
  base::Nanoseconds offset_at(std::int64_t there_ns) const noexcept;

  // Times of the node's clock. Equal: the offset does not change.
  std::int64_t begin_ns_;
  std::int64_t end_ns_;
  base::Nanoseconds begin_offset_;
  base::Nanoseconds end_offset_;
  base::Nanoseconds error_;
};

}  // namespace distrun::nodes
