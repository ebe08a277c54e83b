#include <catch2/catch.hpp>

#include <numeric>

#include "stack_cap.hpp"

using namespace distrun;
using namespace distrun::probe;

namespace {

std::vector<std::uint32_t> numbers(std::uint32_t first, std::size_t count) {
  std::vector<std::uint32_t> result(count);
  std::iota(result.begin(), result.end(), first);
  return result;
}

}  // namespace

TEST_CASE("a stack within the limits is sent completely") {
  wire::ThreadStack thread;
  set_frames(thread, numbers(0, 96), numbers(96, 32), false);
  CHECK(thread.frames == numbers(0, 128));
  CHECK(thread.gap_after == -1);
}

TEST_CASE("an existing gap keeps its place") {
  wire::ThreadStack thread;
  set_frames(thread, numbers(0, 90), numbers(1000, 20), true);
  CHECK(thread.frames.size() == 110);
  CHECK(thread.gap_after == 90);
}

TEST_CASE("a stack with too many frames keeps the innermost and the outermost") {
  wire::ThreadStack thread;
  set_frames(thread, numbers(0, 200), numbers(200, 50), GENERATE(false, true));
  CHECK(thread.gap_after == 96);
  REQUIRE(thread.frames.size() == 128);
  CHECK(thread.frames[95] == 95);
  CHECK(thread.frames[96] == 218);
  CHECK(thread.frames.back() == 249);
}
