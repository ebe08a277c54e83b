#pragma once
// Conversions of limits that users give, which may exceed the range of Nanoseconds or of a TimePoint.
#include <algorithm>
#include <cmath>

#include <distrun/common/base/clock.hpp>

namespace distrun::base {

// Returns the end of a limit that starts at `now`: `now` if the limit is negative, TimePoint::max() (no deadline) if
// the end does not fit a TimePoint.
inline TimePoint deadline_after(Nanoseconds limit, TimePoint now = system_clock().now()) {
  if (limit >= TimePoint::max() - now) return TimePoint::max();
  return now + std::max(limit, Nanoseconds::zero());
}

// Converts seconds, rounded to the nearest nanosecond: at most 100 years; negative numbers and NaN give zero.
inline Nanoseconds nanoseconds_of(double seconds) noexcept {
  constexpr double kMost = 100 * 365.0 * 24 * 3600;
  if (!(seconds > 0)) return Nanoseconds::zero();
  return Nanoseconds(std::llround(std::min(seconds, kMost) * 1e9));
}

// Converts milliseconds, at most those that Nanoseconds can hold (292 years).
inline Nanoseconds nanoseconds_of(std::chrono::milliseconds limit) noexcept {
  constexpr auto kMost = std::chrono::duration_cast<std::chrono::milliseconds>(Nanoseconds::max());
  return std::clamp(limit, -kMost, kMost);
}

}  // namespace distrun::base
