#include <catch2/catch.hpp>

#include <distrun/runner/history/statistics.hpp>

using namespace distrun;
using namespace distrun::history;
using namespace std::chrono_literals;
using runner::Verdict;

namespace {

// Newest first: p passes, f fails, c crashes, y is flaky, s skips, i is an infra error, x was cancelled.
Statistics statistics_of(const std::string& verdicts) {
  Tally tally;
  for (const char verdict : verdicts) {
    switch (verdict) {
      case 'p': tally.add(Verdict::Pass, 10ms); break;
      case 'f': tally.add(Verdict::Fail, 3ms); break;
      case 'c': tally.add(Verdict::Crash, 3ms); break;
      case 'y': tally.add(Verdict::Flaky, 10ms); break;
      case 's': tally.add(Verdict::Skip, 0ms); break;
      case 'i': tally.add(Verdict::InfraError, 0ms); break;
      default: tally.add(Verdict::Cancelled, 1h); break;
    }
  }
  return tally.take();
}

}  // namespace

TEST_CASE("a test that always passes is not flaky, and neither is one that never does") {
  CHECK(statistics_of("pppp").flakiness == 0);
  CHECK(statistics_of("ffcf").flakiness == 0);
  CHECK(statistics_of("pppp").passed == 4);
  CHECK_FALSE(statistics_of("pppp").fails_now());
  CHECK(statistics_of("cppp").fails_now());
  CHECK(statistics_of("").flakiness == 0);
  CHECK_FALSE(statistics_of("").last);
}

TEST_CASE("each change of the verdict and each flaky verdict counts as odd once") {
  CHECK(statistics_of("pfpf").flakiness == 0.75);  // the oldest has no predecessor
  CHECK(statistics_of("fppp").flakiness == 0.25);
  CHECK(statistics_of("yppp").flakiness == 0.25);
  CHECK(statistics_of("yyyy").flakiness == 1);
  CHECK(statistics_of("yfpp").flakiness == 0.5);  // flaky and changed: counted once
  CHECK(statistics_of("fcff").flakiness == 0);    // another kind of failure is not a change
}

TEST_CASE("verdicts that say nothing about a test do not count") {
  const Statistics statistics = statistics_of("xspisfsp");
  CHECK(statistics.results == 8);
  CHECK(statistics.window == 3);
  CHECK(statistics.passed == 2);
  CHECK(statistics.last == Verdict::Pass);
  CHECK(statistics.flakiness == Approx(2.0 / 3));
  CHECK(statistics.p99 == 10ms);
}

TEST_CASE("verdicts are judged over the last twenty that count") {
  const Statistics statistics = statistics_of("s" + std::string(20, 'p') + std::string(20, 'f'));
  CHECK(statistics.window == kWindow);
  CHECK(statistics.passed == kWindow);
  CHECK(statistics.flakiness == 0);
  CHECK(statistics.results == 41);
}

TEST_CASE("durations are those of all passed results, or of the others if none passed") {
  Tally tally;
  for (int i = 1; i <= 100; ++i) tally.add(Verdict::Pass, std::chrono::milliseconds(i));
  tally.add(Verdict::Timeout, 300s);
  Statistics statistics = tally.take();
  CHECK(statistics.timed == 100);
  CHECK(statistics.median == 50ms);
  CHECK(statistics.p95 == 95ms);
  CHECK(statistics.p99 == 99ms);
  tally.add(Verdict::Timeout, 300s);
  statistics = tally.take();  // nothing is left of the previous test
  CHECK(statistics.timed == 0);
  CHECK(statistics.results == 1);
  CHECK(statistics.median == 300s);
}

TEST_CASE("a suggested timeout is five times the slowest durations, at least ten seconds, and a round number") {
  CHECK(suggested_timeout(1ms) == 10s);
  CHECK(suggested_timeout(2s) == 10s);
  CHECK(suggested_timeout(2001ms) == 15s);
  CHECK(suggested_timeout(10s) == 1min);
  CHECK(suggested_timeout(61s) == 10min);
  CHECK(suggested_timeout(3h) == 24h);
  CHECK(suggested_timeout(6h) == 48h);
  CHECK(suggested_timeout(base::Nanoseconds::max()) == 7 * 24h);  // the maximum of --timeout
}
