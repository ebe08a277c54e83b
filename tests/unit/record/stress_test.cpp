#include <distrun/runner/record/stress.hpp>

#include <catch2/catch.hpp>

using namespace distrun::runner;
using std::chrono::milliseconds;

namespace {

AttemptRecord attempt(int n, Verdict verdict, const std::string& message, milliseconds duration = milliseconds(10)) {
  AttemptRecord made;
  made.n = n;
  made.verdict = verdict;
  made.message = message;
  made.duration = duration;
  return made;
}

}  // namespace

TEST_CASE("failures that differ only in numbers are of one kind, those of another verdict are not") {
  StressRecord stress;
  CHECK_FALSE(count(stress, attempt(1, Verdict::Pass, "")));
  CHECK(count(stress, attempt(2, Verdict::Fail, "rank 1: left: 3, right: 0x7f12 (a.cpp:7)")));
  CHECK_FALSE(count(stress, attempt(3, Verdict::Fail, "rank 2: left: 14.5, right: 0xffff12aa (a.cpp:7)")));
  CHECK(count(stress, attempt(4, Verdict::Timeout, "rank 2: left: 14.5, right: 0xffff12aa (a.cpp:7)")));
  CHECK(count(stress, attempt(5, Verdict::Fail, "rank 1: another message", milliseconds(90))));
  CHECK(stress.runs == 5);
  CHECK(stress.failures == 4);
  CHECK(stress.total == milliseconds(130));
  CHECK(stress.longest == milliseconds(90));
  REQUIRE(stress.kinds.size() == 3);
  CHECK(stress.kinds[0].count == 2);
  CHECK(stress.kinds[0].attempt == 2);
  CHECK(stress.kinds[0].message == "rank 1: left: 3, right: 0x7f12 (a.cpp:7)");
}

TEST_CASE("only so many kinds of failures are kept apart, and all failures are counted") {
  StressRecord stress;
  const auto message = [](int i) { return std::string(static_cast<std::size_t>(i) + 1, 'x'); };
  for (int i = 0; i < 100; ++i) count(stress, attempt(i + 1, Verdict::Fail, message(i)));
  CHECK(stress.kinds.size() == kStressKindsMax);
  CHECK(stress.failures == 100);
  CHECK_FALSE(count(stress, attempt(101, Verdict::Fail, message(0))));
  CHECK(stress.kinds.front().count == 2);
}

TEST_CASE("the interval of the probability of a failure is that of Clopper and Pearson") {
  CHECK(failure_interval(0, 0).low == 0);
  CHECK(failure_interval(0, 0).high == 1);
  CHECK(failure_interval(0, 100).low == 0);
  CHECK(failure_interval(0, 100).high == Approx(0.0362).margin(0.0001));  // 1 - 0.025^(1/100)
  CHECK(failure_interval(10, 100).low == Approx(0.0490).margin(0.0001));  // published tables
  CHECK(failure_interval(10, 100).high == Approx(0.1762).margin(0.0001));
  CHECK(failure_interval(7, 7).low == Approx(0.5904).margin(0.0001));
  CHECK(failure_interval(7, 7).high == 1);
}

TEST_CASE("shares are shown with two digits") {
  CHECK(percent(0) == "0 %");
  CHECK(percent(0.000123) == "0.012 %");
  CHECK(percent(0.0023) == "0.23 %");
  CHECK(percent(0.0234) == "2.3 %");
  CHECK(percent(0.234) == "23 %");
  CHECK(percent(1) == "100 %");
}

TEST_CASE("how often a test failed is said with its share") {
  StressRecord stress;
  CHECK(failures_text(stress) == "0 of 0 runs failed (0 %)");
  stress.runs = 1200;
  stress.failures = 3;
  CHECK(failures_text(stress) == "3 of 1200 runs failed (0.25 %)");
}
