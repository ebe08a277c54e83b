#include <catch2/catch.hpp>

#include "motion.hpp"

using namespace distrun;
using namespace distrun::probe;
using wire::Motion;
using Functions = std::vector<std::string>;

namespace {

// Returns samples every 20 ms of a thread that uses `cpu_ms` between two of them.
std::vector<MotionSample> samples(double cpu_ms, const std::vector<Functions>& stacks, bool running = false) {
  std::vector<MotionSample> result;
  for (const Functions& stack : stacks) {
    const auto i = static_cast<int>(result.size());
    const auto cpu_ns = static_cast<std::uint64_t>(cpu_ms * 1e6 * i);
    result.push_back({base::TimePoint(base::Milliseconds(20 * i)), cpu_ns, running, stack});
  }
  return result;
}

}  // namespace

TEST_CASE("a thread that uses no CPU waits") {
  CHECK(judge_motion(samples(0, {{"f", "main"}, {}, {}})) == Motion::Waiting);
  CHECK(judge_motion(samples(0.05, {{"f", "main"}, {}, {}})) == Motion::Waiting);
  CHECK(judge_motion(samples(0, {{}, {}, {}})) == Motion::Waiting);
}

TEST_CASE("a thread that uses CPU in one function spins") {
  CHECK(judge_motion(samples(19, {{"f", "main"}, {"f", "main"}, {"f", "main"}}, true)) == Motion::Spinning);
  CHECK(judge_motion(samples(5, {{"f", "main"}, {"f", "main"}, {"f", "main"}})) == Motion::Spinning);
}

TEST_CASE("a thread that always wants the processor and hardly gets it spins, too") {
  CHECK(judge_motion(samples(0.1, {{"f", "main"}, {"f", "main"}, {"f", "main"}}, true)) == Motion::Spinning);
}

TEST_CASE("a loop that calls a function now and then spins in the loop") {
  CHECK(judge_motion(samples(19, {{"test", "f", "main"}, {"f", "main"}, {"get", "test", "f", "main"}}, true)) ==
        Motion::Spinning);
}

TEST_CASE("a thread that is found at another place moves") {
  CHECK(judge_motion(samples(19, {{"a", "b", "c", "f", "main"}, {"x", "y", "z", "g", "main"}}, true)) ==
        Motion::Moving);
  CHECK(judge_motion(samples(0.1, {{"a", "b", "c", "f", "main"}, {"x", "y", "z", "g", "main"}})) == Motion::Moving);
  CHECK(judge_motion(samples(19, {{"f", "thread"}, {"g", "other thread"}}, true)) == Motion::Moving);
}

TEST_CASE("without a second stack it is unknown what a thread does with its CPU time") {
  CHECK(judge_motion(samples(19, {{"f", "main"}, {}, {}}, true)) == Motion::Unknown);
  CHECK(judge_motion(samples(19, {{}, {}, {}}, true)) == Motion::Unknown);
}

TEST_CASE("one sample says nothing") {
  CHECK(judge_motion({}) == Motion::Unknown);
  CHECK(judge_motion(samples(19, {{"f", "main"}}, true)) == Motion::Unknown);
}

TEST_CASE("a clock that goes backwards is no work") {
  std::vector<MotionSample> two = samples(0, {{"f"}, {"f"}});
  two.front().cpu_ns = 1'000'000'000;
  CHECK(judge_motion(two) == Motion::Waiting);
}
