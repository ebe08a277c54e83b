#pragma once
// Deadlines from limits that users give, which may be larger than a point in time can tell.
#include <algorithm>

#include <distrun/common/base/clock.hpp>

namespace distrun::base {

// Returns the time at which a limit that begins at `now` is over: `now` for a negative one, TimePoint::max(), which
// stands for no deadline, for one that ends later than a TimePoint can be.
inline TimePoint deadline_after(Nanoseconds limit, TimePoint now = system_clock().now()) {
  if (limit >= TimePoint::max() - now) return TimePoint::max();
  return now + std::max(limit, Nanoseconds::zero());
}

// Returns seconds as people give them: at most a hundred years, zero for negative ones and for what is no number.
inline Nanoseconds nanoseconds_of(double seconds) noexcept {
  constexpr double kMost = 100 * 365.0 * 24 * 3600;
  if (!(seconds > 0)) return Nanoseconds::zero();
  return std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>(std::min(seconds, kMost)));
}

}  // namespace distrun::base
