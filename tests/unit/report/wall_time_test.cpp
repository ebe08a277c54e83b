#include <catch2/catch.hpp>

#include <distrun/runner/report/files/wall_time.hpp>

using distrun::report::try_read_wall_time;

TEST_CASE("a time is read as it was written") {
  CHECK(try_read_wall_time("1970-01-01T00:00:00.000Z") == 0);
  CHECK(try_read_wall_time("2026-01-31T12:00:00.250Z") == 1'769'860'800'250'000'000);
  CHECK(try_read_wall_time("1970-01-01T00:00:01Z") == 1'000'000'000);
}

TEST_CASE("an invalid time, or one out of range, is refused") {
  for (const char* text : {"", "today", "2026-01-31", "2026-13-01T00:00:00.000Z", "2026-01-32T00:00:00.000Z",
                           "2026-01-31T24:00:00.000Z", "1969-12-31T23:59:59.000Z", "2262-01-01T00:00:00.000Z"}) {
    INFO(text);
    CHECK_FALSE(try_read_wall_time(text));
  }
}
