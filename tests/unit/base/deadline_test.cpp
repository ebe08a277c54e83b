#include <distrun/common/base/deadline.hpp>

#include <limits>

#include <catch2/catch.hpp>

namespace distrun::base {

TEST_CASE("a limit beyond the largest time never ends, and a negative one is already over") {
  const TimePoint now = system_clock().now();
  CHECK(deadline_after(Nanoseconds(5), now) == now + Nanoseconds(5));
  CHECK(deadline_after(Nanoseconds::max(), now) == TimePoint::max());
  CHECK(deadline_after(TimePoint::max() - now, now) == TimePoint::max());
  CHECK(deadline_after(TimePoint::max() - now - Nanoseconds(1), now) == TimePoint::max() - Nanoseconds(1));
  CHECK(deadline_after(Nanoseconds(-1), now) == now);
  CHECK(deadline_after(Nanoseconds::min(), now) == now);
}

TEST_CASE("seconds of any size are a limit") {
  constexpr Nanoseconds kHundredYears = std::chrono::hours(100 * 365 * 24);
  CHECK(nanoseconds_of(0.5) == std::chrono::milliseconds(500));
  for (const double large : {1e300, std::numeric_limits<double>::infinity()}) {
    CHECK(nanoseconds_of(large) == kHundredYears);
  }
  CHECK(nanoseconds_of(1.0000000006) == std::chrono::seconds(1) + Nanoseconds(1));  // the nearest
  for (const double none : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(nanoseconds_of(none) == Nanoseconds::zero());
  }
}

TEST_CASE("milliseconds of any number are a limit") {
  using std::chrono::milliseconds;
  CHECK(nanoseconds_of(milliseconds(-5)) == milliseconds(-5));
  CHECK(nanoseconds_of(std::chrono::seconds(2)) == std::chrono::seconds(2));
  CHECK(deadline_after(nanoseconds_of(milliseconds::max())) == TimePoint::max());
  CHECK(nanoseconds_of(milliseconds::min()) < -std::chrono::hours(292 * 365 * 24));
}

}  // namespace distrun::base
