#include <catch2/catch.hpp>

#include <distrun/common/base/clock.hpp>

using namespace distrun::base;
using namespace std::chrono_literals;

TEST_CASE("durations are written in the unit that a reader can use") {
  struct Row {
    Nanoseconds duration;
    const char* text;
  };
  const Row row = GENERATE(Row{0ns, "0 us"}, Row{999us, "999 us"}, Row{1ms, "1.0 ms"}, Row{1500us, "1.5 ms"},
                           Row{999ms, "999.0 ms"}, Row{1s, "1.0 s"}, Row{12345ms, "12.3 s"}, Row{119900ms, "119.9 s"},
                           Row{120s, "2 min 00 s"}, Row{125s, "2 min 05 s"}, Row{3h, "180 min 00 s"});
  CHECK(human(row.duration) == row.text);
}

TEST_CASE("wall time is written as ISO 8601 in UTC with milliseconds") {
  CHECK(iso8601(0) == "1970-01-01T00:00:00.000Z");
  CHECK(iso8601(1'000'000'000'123'999'999) == "2001-09-09T01:46:40.123Z");
  CHECK(iso8601(951'782'400'000'000'000) == "2000-02-29T00:00:00.000Z");
}

TEST_CASE("the system clock is monotonic and knows the year") {
  const Clock& clock = system_clock();
  const TimePoint first = clock.now();
  CHECK(clock.now() >= first);
  CHECK(clock.wall_ns() > 1'700'000'000'000'000'000);
  CHECK(&system_clock() == &clock);
}
