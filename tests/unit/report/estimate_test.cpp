#include <catch2/catch.hpp>

#include <distrun/runner/report/text/estimate.hpp>
#include <distrun/runner/report/text/progress.hpp>

using namespace distrun;
using namespace distrun::report;
using namespace std::chrono_literals;

TEST_CASE("what is left of a run is the sum of its tests' usual durations, shared by the jobs", "[report]") {
  Estimate estimate;
  estimate.expect("A", 40s);
  estimate.expect("B", 20s);
  CHECK(estimate.left(0s, 0s) == 60s);
  estimate.started("A");
  CHECK(estimate.left_of("A", 10s) == 30s);
  CHECK(estimate.left_of("A", 100s) == 0s);
  CHECK(estimate.left(30s, 30s) == 50s);
  estimate.at_once(2);
  CHECK(estimate.left(30s, 30s) == 30s);  // the longest
  CHECK(estimate.left(10s, 10s) == 15s);
}

TEST_CASE("an unknown test counts as long as the others, and too many of them allow no estimate", "[report]") {
  Estimate estimate;
  estimate.expect("A", 40s);
  estimate.expect("B", std::nullopt);
  CHECK(estimate.left(0s, 0s) == 80s);
  estimate.started("B");
  CHECK(estimate.left_of("B", 15s) == 25s);
  CHECK(estimate.left(25s, 25s) == 65s);
  estimate.expect("C", std::nullopt);
  CHECK_FALSE(estimate.left(0s, 0s));
  CHECK_FALSE(Estimate().left(0s, 0s));
}

TEST_CASE("an estimate is told in few digits, and not at the end", "[report]") {
  CHECK(left_text(4s).empty());
  CHECK(left_text(36s) == "about 40 s left");
  CHECK(left_text(61s) == "about 2 min left");
  CHECK(left_text(60min) == "about 1 h 0 min left");
  CHECK(left_text(130min) == "about 2 h 10 min left");
}

TEST_CASE("the status line tells the estimate", "[report]") {
  Progress progress;
  progress.run_started(2);
  progress.estimate().expect("A", 40s);
  progress.estimate().expect("B", 20s);
  const base::TimePoint begin;
  progress.test_started("A", begin);
  CHECK(progress.status(begin + 10s, 80).starts_with("0 of 2, about 50 s left | A, 10.0 s"));
}
