#include <catch2/catch.hpp>

#include "motion.hpp"

using namespace distrun;
using namespace distrun::probe;
using wire::Motion;
using Functions = std::vector<std::string>;

namespace {

// Returns samples every 20 ms of a thread that uses `cpu_ms` between two of them, and is in a loop that waits.
MotionHistory samples(double cpu_ms, const std::vector<Functions>& stacks, bool running = false) {
  MotionHistory history;
  std::vector<MotionSample>& result = history.samples;
  for (const Functions& stack : stacks) {
    const auto i = static_cast<int>(result.size());
    const auto cpu_ns = static_cast<std::uint64_t>(cpu_ms * 1e6 * i);
    result.push_back({base::TimePoint(base::Milliseconds(20 * i)), cpu_ns, 0, 0, running, {}, stack});
  }
  history.loops.assign(8, {LoopPlace::Code, 0x1000, 0x7000, {1, 2}, {3}, 4, 0});
  history.sleeps_before = history.sleeps_after = 0;
  return history;
}

const std::vector<Functions> kInF(3, {"f", "main"});

}  // namespace

TEST_CASE("a thread that uses no CPU waits") {
  CHECK(judge_motion(samples(0, {{"f", "main"}, {}, {}})) == Motion::Waiting);
  CHECK(judge_motion(samples(0.05, {{"f", "main"}, {}, {}})) == Motion::Waiting);
  CHECK(judge_motion(samples(0, {{}, {}, {}})) == Motion::Waiting);
}

TEST_CASE("the CPU time that two stops cost on a busy machine is no work, more is") {
  CHECK(judge_motion(samples(0.55, {{"f", "main"}, {}, {}})) == Motion::Waiting);
  CHECK(judge_motion(samples(0.65, {{"f", "main"}, {}, {}})) == Motion::Moving);
}

TEST_CASE("a thread that waited, and lacks a CPU since the first stop, waits") {
  MotionHistory history = samples(0.05, {{"f", "main"}, {}, {}}, true);
  CHECK(judge_motion(history) != Motion::Waiting);
  history.waited = true;
  CHECK(judge_motion(history) == Motion::Waiting);
  history = samples(19, kInF, true);
  history.waited = true;
  CHECK(judge_motion(history) == Motion::Spinning);
}

TEST_CASE("a thread that uses its CPU to wait in one function spins") {
  CHECK(judge_motion(samples(19, kInF, true)) == Motion::Spinning);
  CHECK(judge_motion(samples(10, kInF)) == Motion::Spinning);
}

TEST_CASE("a thread that uses less than half of the CPU that it could get does not spin") {
  CHECK(judge_motion(samples(5, kInF)) == Motion::Moving);
  MotionHistory shares = samples(5, kInF);
  shares.samples.back().kept_ns = 25'000'000;  // of 40 ms
  CHECK(judge_motion(shares) == Motion::Spinning);
  MotionHistory stops = samples(5, kInF);
  stops.samples.back().stopped = base::Milliseconds(25);
  CHECK(judge_motion(stops) == Motion::Spinning);
}

TEST_CASE("a thread that sleeps, or makes page faults, does not spin however much CPU it uses") {
  MotionHistory sleeps = samples(19, kInF, true);
  sleeps.sleeps_after = 100;
  CHECK(judge_motion(sleeps) == Motion::Running);
  sleeps.sleeps_after = -1;  // unknown
  CHECK(judge_motion(sleeps) == Motion::Running);
  MotionHistory faults = samples(19, kInF, true);
  faults.samples.back().faults = 100;
  CHECK(judge_motion(faults) == Motion::Running);
}

TEST_CASE("registers of a thread that has hardly run since the last look say nothing") {
  MotionHistory history;
  for (const std::uint64_t cpu_us : {1000U, 1010U, 2000U, 2001U}) {
    add_loop_sample(history, {LoopPlace::Code, 0x1000, 0x7000, {1}, {2}, 4, cpu_us * 1000});
  }
  CHECK(history.loops.size() == 2);
}

TEST_CASE("the stops of the probe do not count as sleeping") {
  MotionHistory stopped = samples(19, kInF, true);
  stopped.stops = 8;
  stopped.sleeps_after = 11;
  CHECK(judge_motion(stopped) == Motion::Spinning);
}

TEST_CASE("a loop whose registers differ may compute, so it does not spin for certain") {
  MotionHistory computes = samples(19, kInF, true);
  for (std::size_t i = 0; i < computes.loops.size(); ++i) computes.loops[i].scratch[0] = i;
  CHECK(judge_motion(computes) == Motion::Running);
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
  MotionHistory two = samples(0, {{"f"}, {"f"}});
  two.samples.front().cpu_ns = 1'000'000'000;
  CHECK(judge_motion(two) == Motion::Waiting);
}
