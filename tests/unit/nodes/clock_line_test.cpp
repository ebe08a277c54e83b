// Times of a node's clock that drifts away from this machine's.
#include <catch2/catch.hpp>

#include <limits>

#include <distrun/runner/nodes/clock_line.hpp>

namespace distrun::nodes {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

base::TimePoint at(base::Nanoseconds time) { return base::TimePoint(time); }
std::int64_t ns(base::Nanoseconds time) { return time.count(); }

}  // namespace

TEST_CASE("between two known offsets the offset of a clock changes evenly") {
  const ClockMark begin{{seconds(5), microseconds(10)}, at(seconds(105))};
  const ClockMark end{{seconds(5) + microseconds(400), microseconds(20)}, at(seconds(115))};
  const ClockLine line(begin, end);
  CHECK(line.here(ns(seconds(100))) == ns(seconds(105)));
  CHECK(line.here(ns(seconds(105))) == Approx(ns(seconds(110) + microseconds(200))).margin(1000));
  CHECK(line.here(ns(seconds(115))) == ns(seconds(120) + microseconds(400)));
  CHECK(line.here(ns(seconds(2))) == ns(seconds(7)));  // as at the nearer end
  CHECK(line.error() == microseconds(20));
}

TEST_CASE("an offset that is not known at first, or badly, does not count") {
  const ClockMark end{{seconds(-5), microseconds(20)}, at(seconds(115))};
  const ClockLine unknown({}, end);
  CHECK(unknown.here(ns(seconds(100))) == ns(seconds(95)));
  CHECK(unknown.error() == microseconds(20));
  // In ten seconds clocks drift apart by up to 0.5 ms.
  const ClockMark bad{{seconds(-4), seconds(1)}, at(seconds(105))};
  const ClockLine known_badly(bad, end);
  CHECK(known_badly.here(ns(seconds(100))) == ns(seconds(95)));
  CHECK(known_badly.error() == microseconds(520));
}

TEST_CASE("a time that no clock of this machine can show stays what it is") {
  const ClockLine line({}, {{seconds(5), microseconds(20)}, at(seconds(115))});
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  CHECK(line.here(kMax) == kMax);
  CHECK(line.here(kMax - 1) == kMax - 1);
}

}  // namespace distrun::nodes
