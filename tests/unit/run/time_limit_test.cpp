#include <distrun/runner/run/time_limit.hpp>

#include <catch2/catch.hpp>

#include "../support/loop.hpp"

using namespace distrun;
using namespace distrun::runner;
using namespace std::chrono_literals;

TEST_CASE("a limit of time is over once, and pauses do not count") {
  io::Loop loop;
  int over = 0;
  TimeLimit limit(loop, 300ms, [&] { ++over; });
  limit.pause();  // before it begins
  const auto begun = loop.clock().now();
  limit.begin();
  limit.pause();
  limit.pause();  // changes nothing
  io::Alarm later(loop, [&] {
    limit.resume();
    limit.resume();  // changes nothing
  });
  later.set(begun + 400ms);
  REQUIRE(testing::run_until(loop, [&] { return over == 1; }));
  CHECK(loop.clock().now() - begun >= 690ms);
  limit.end();
  limit.resume();
  CHECK_FALSE(testing::run_until(
      loop, [&] { return over == 2; }, 50ms));
}

TEST_CASE("no limit is never over, nor is one that was ended") {
  io::Loop loop;
  int over = 0;
  TimeLimit none(loop, 0ns, [&] { ++over; });
  TimeLimit ended(loop, 1ms, [&] { ++over; });
  none.begin();
  ended.begin();
  ended.end();
  CHECK_FALSE(testing::run_until(
      loop, [&] { return over > 0; }, 50ms));
}
