#include <catch2/catch.hpp>

#include <distrun/runner/nodes/clock_offset.hpp>

#include <limits>
#include <random>

namespace distrun::nodes {
namespace {

using namespace std::chrono_literals;

base::TimePoint at(std::int64_t ns) { return base::TimePoint(base::Nanoseconds(ns)); }

TEST_CASE("the offset of a clock comes from the quickest answer") {
  ClockOffset clock;
  CHECK(!clock.at(at(0)));
  // The peer is ahead by 1'000'000; 1000 there, 3000 back, 500 in between.
  clock.add({10'000, 1'011'000, 1'011'500, 14'500});
  REQUIRE(clock.at(at(14'500)));
  CHECK(clock.at(at(14'500))->offset == 999'000ns);
  CHECK(clock.at(at(14'500))->error == 2001ns);
  clock.add({20'000, 1'020'100, 1'020'200, 20'300});  // 100 there, 100 back
  CHECK(clock.at(at(20'300))->offset == 1'000'000ns);
  CHECK(clock.at(at(20'300))->error == 101ns);
  clock.add({30'000, 1'039'000, 1'039'000, 40'000});  // a slow one
  CHECK(clock.at(at(40'000))->offset == 1'000'000ns);
}

TEST_CASE("an old answer becomes worse, until a younger one is better") {
  ClockOffset clock;
  clock.add({0, 100, 100, 200});
  CHECK(clock.at(at(200 + 1'000'000'000))->error == 101ns + 50us);
  clock.add({1'000'000'000, 1'000'090'000, 1'000'090'000, 1'000'080'000});  // an error of 40 us
  CHECK(clock.at(at(1'000'080'000))->offset == 50us);
  CHECK(clock.at(at(1'000'080'000))->error == 40'001ns);
}

TEST_CASE("times that cannot be are ignored") {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  ClockOffset clock;
  clock.add({100, 0, 0, 50});            // answered before it was asked
  clock.add({0, 100, 50, 200});          // sent before it was received
  clock.add({0, 0, 1000, 100});          // longer there than on the way
  clock.add({0, 0, 0, 61'000'000'000});  // too slow to be worth anything
  clock.add({0, kMost, kMost, 100});
  clock.add({0, kLeast, kLeast, 100});
  clock.add({kLeast, 0, 0, kMost});
  CHECK(!clock.at(at(0)));
}

TEST_CASE("the true offset is always within the error") {
  std::mt19937 random(20);
  std::uniform_int_distribution<std::int64_t> way(1, 5'000'000);
  ClockOffset clock;
  constexpr std::int64_t kTrue = -123'456'789;
  std::int64_t now = 1'000'000'000;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t there = way(random), inside = way(random) / 100, back = way(random);
    const std::int64_t came = now + there + kTrue;
    clock.add({now, came, came + inside, now + there + inside + back});
    now += there + inside + back + 200'000'000;
    const auto offset = clock.at(at(now));
    REQUIRE(offset);
    REQUIRE(std::abs(offset->offset.count() - kTrue) <= offset->error.count());
  }
}

}  // namespace
}  // namespace distrun::nodes
