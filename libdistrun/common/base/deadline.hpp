#pragma once
// Deadlines for limits that users give and that may exceed the range of a TimePoint.
#include <algorithm>

#include <distrun/common/base/clock.hpp>

namespace distrun::base {

// Returns the end of a limit that starts at `now`: `now` if the limit is negative, TimePoint::max() (no deadline) if
// the end does not fit a TimePoint.
inline TimePoint deadline_after(Nanoseconds limit, TimePoint now = system_clock().now()) {
  if (limit >= TimePoint::max() - now) return TimePoint::max();
  return now + std::max(limit, Nanoseconds::zero());
}

// Converts seconds given by a user: at most 100 years; negative numbers and NaN give zero.
inline Nanoseconds nanoseconds_of(double seconds) noexcept {
  constexpr double kMost = 100 * 365.0 * 24 * 3600;
  if (!(seconds > 0)) return Nanoseconds::zero();
  return std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>(std::min(seconds, kMost)));
}

}  // namespace distrun::base
