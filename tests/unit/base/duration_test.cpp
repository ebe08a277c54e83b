#include <catch2/catch.hpp>

#include <distrun/common/base/duration.hpp>
#include <distrun/common/base/error.hpp>

using namespace distrun;
using base::parse_duration;
using namespace std::chrono_literals;

TEST_CASE("durations are read with their units, and as seconds without one") {
  CHECK(parse_duration("--timeout", "500ms") == 500ms);
  CHECK(parse_duration("--timeout", "2") == 2s);
  CHECK(parse_duration("--timeout", "2s") == 2s);
  CHECK(parse_duration("--timeout", "1.5m") == 90s);
  CHECK(parse_duration("--timeout", "10min") == 10min);
  CHECK(parse_duration("--timeout", "1h") == 1h);
}

TEST_CASE("an invalid duration is refused with the option's name") {
  for (const char* text : {"", "soon", "-1s", "0", "1 s", "1d", "8000000", "nan", "inf"}) {
    INFO(text);
    CHECK_THROWS_WITH(parse_duration("--timeout", text), Catch::Contains("--timeout") && Catch::Contains("30s"));
  }
}
