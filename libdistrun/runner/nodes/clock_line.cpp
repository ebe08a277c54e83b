#include <distrun/runner/nodes/clock_line.hpp>

#include <algorithm>

namespace distrun::nodes {
namespace {

// Sums of times and offsets that pings have measured do not overflow; a mark of something else may be anything.
std::int64_t time_there(const ClockMark& mark) noexcept {
  std::int64_t there = 0;
  return __builtin_sub_overflow(mark.at.time_since_epoch().count(), mark.ahead.offset.count(), &there) ? 0 : there;
}

}  // namespace

ClockLine::ClockLine(const std::optional<ClockMark>& begin, const ClockMark& end)
    : begin_ns_(time_there(end)),
      end_ns_(begin_ns_),
      begin_offset_(end.ahead.offset),
      end_offset_(end.ahead.offset),
      error_(end.ahead.error) {
  if (!begin) return;
  const base::Nanoseconds error_of_drift = drift_over(end.at - begin->at);
  if (begin->ahead.error > end.ahead.error + error_of_drift) {
    error_ += error_of_drift;
    return;
  }
  begin_ns_ = time_there(*begin);
  begin_offset_ = begin->ahead.offset;
  error_ = std::max(begin->ahead.error, end.ahead.error);
}

base::Nanoseconds ClockLine::offset_at(std::int64_t there_ns) const noexcept {
  if (begin_ns_ >= end_ns_) return end_offset_;
  const std::int64_t at = std::clamp(there_ns, begin_ns_, end_ns_);
  const double part = static_cast<double>(at - begin_ns_) / static_cast<double>(end_ns_ - begin_ns_);
  const auto change = static_cast<double>((end_offset_ - begin_offset_).count());
  return begin_offset_ + base::Nanoseconds(static_cast<std::int64_t>(part * change));
}

std::int64_t ClockLine::here(std::int64_t there_ns) const noexcept {
  std::int64_t here_ns = 0;
  return __builtin_add_overflow(there_ns, offset_at(there_ns).count(), &here_ns) ? there_ns : here_ns;
}

}  // namespace distrun::nodes
