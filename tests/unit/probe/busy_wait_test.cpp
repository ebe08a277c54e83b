#include <catch2/catch.hpp>

#include <initializer_list>

#include "busy_wait.hpp"

using namespace distrun::probe;
using enum LoopPlace;

namespace {

struct Seen {
  LoopPlace place = Code;
  std::uint64_t pc = 0;
  std::uint64_t saved = 0;
  std::uint64_t scratch = 0;
  std::uint64_t vectors = 0;
};

bool waits(std::initializer_list<Seen> all) {
  std::vector<LoopSample> samples;
  for (const Seen& seen : all) {
    samples.push_back({seen.place, seen.pc, 0x7000, {seen.saved}, {seen.scratch}, seen.vectors, 0});
  }
  return is_busy_wait(samples);
}

}  // namespace

TEST_CASE("a loop with the same registers at the same instructions waits") {
  CHECK(waits({{Code, 1}, {Code, 1}, {Code, 1}, {Code, 1}, {Code, 1}, {Code, 1}}));
  CHECK(waits({{Code, 1, 5, 6}, {Code, 2, 5, 7}, {Code, 1, 5, 6}, {Code, 2, 5, 7}, {Code, 1, 5, 6}, {Code, 1, 5, 6}}));
}

TEST_CASE("a loop whose registers differ at the same instruction may compute") {
  CHECK_FALSE(waits({{Code, 1, 0, 1}, {Code, 1, 0, 2}, {Code, 1}, {Code, 1}, {Code, 1}, {Code, 1}}));
  CHECK_FALSE(waits({{Code, 1, 1}, {Code, 1, 2}, {Code, 1}, {Code, 1}, {Code, 1}, {Code, 1}}));
  CHECK_FALSE(waits({{Code, 1, 0, 0, 9}, {Code, 1}, {Code, 1}, {Code, 1}, {Code, 1}, {Code, 1}}));
}

TEST_CASE("instructions that are seen once say nothing") {
  CHECK_FALSE(waits({{Code, 1}, {Code, 2}, {Code, 3}, {Code, 4}, {Code, 5}, {Code, 6}}));
  CHECK_FALSE(waits({{Code, 1}, {Code, 1}, {Code, 3}, {Code, 4}, {Code, 5}, {Code, 6}}));
}

TEST_CASE("a few samples say nothing") {
  CHECK_FALSE(waits({}));
  CHECK_FALSE(waits({{Code, 1}, {Code, 1}, {Code, 1}, {Code, 1}, {Code, 1}}));
}

TEST_CASE("a loop of pauses or yields waits, even if it counts") {
  CHECK(waits({{Pause, 1, 0, 1}, {Pause, 1, 0, 2}, {Pause, 1, 0, 3}, {Pause, 1, 0, 4}, {Code, 2}, {Code, 3}}));
  CHECK(waits({{Yield, 1, 0, 1}, {Yield, 1, 0, 2}, {Pause, 2}, {Yield, 1}, {Yield, 1}, {Yield, 1}}));
}

TEST_CASE("a loop of pauses that gets on has a different state for its callers") {
  CHECK_FALSE(waits({{Pause, 1, 1}, {Pause, 1, 2}, {Pause, 1, 3}, {Pause, 1, 4}, {Pause, 1, 5}, {Pause, 1, 6}}));
}

TEST_CASE("a loop that does hardly anything but read the clock waits") {
  CHECK(waits({{Clock, 1, 1, 1}, {Clock, 2, 2, 2}, {Clock, 3, 3, 3}, {Clock, 4, 4, 4}, {Clock, 5}, {Code, 9}}));
  CHECK_FALSE(waits({{Clock, 1, 1}, {Clock, 2, 2}, {Clock, 3, 3}, {Code, 4, 4}, {Code, 5, 5}, {Code, 9}}));
}

TEST_CASE("a loop that makes system calls may make progress") {
  CHECK_FALSE(waits({{Code, 1}, {Code, 1}, {Code, 1}, {Code, 1}, {Code, 1}, {Code, 1}, {Call, 2}}));
  CHECK_FALSE(waits({{Pause, 1}, {Pause, 1}, {Pause, 1}, {Pause, 1}, {Pause, 1}, {Pause, 1}, {Call, 2}}));
}
