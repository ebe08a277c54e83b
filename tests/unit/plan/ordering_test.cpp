#include <catch2/catch.hpp>

#include <distrun/runner/plan/ordering.hpp>

using namespace distrun;
using namespace distrun::runner;
using namespace std::chrono_literals;

namespace {

PlannedTest planned(const std::string& id, const std::string& plugin = "build/ring.so") {
  PlannedTest test;
  test.id = id;
  test.plugin = plugin;
  return test;
}

std::vector<std::string> ordered(std::vector<PlannedTest> tests, const Hints& hints) {
  order_failed_first(tests, hints);
  std::vector<std::string> ids;
  for (const PlannedTest& test : tests) ids.push_back(test.id);
  return ids;
}

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("without hints the order is unchanged") {
  CHECK(ordered({planned("c"), planned("a"), planned("b")}, {}) == Ids{"c", "a", "b"});
  CHECK(ordered({}, {}).empty());
}

TEST_CASE("tests that did not pass the last time come first, then the longest") {
  Hints hints;
  hints.add("ring.so", "quick", {Verdict::Pass, 1ms});
  hints.add("ring.so", "slow", {Verdict::Pass, 20s});
  hints.add("ring.so", "failed", {Verdict::Fail, 2ms});
  hints.add("ring.so", "hung", {Verdict::Timeout, 300s});
  hints.add("ring.so", "flaky", {Verdict::Flaky, 5ms});
  CHECK(ordered({planned("quick"), planned("slow"), planned("failed"), planned("flaky"), planned("hung")}, hints) ==
        Ids{"hung", "flaky", "failed", "slow", "quick"});
}

TEST_CASE("a new test comes before quick tests and after slow ones") {
  Hints hints;
  hints.add("ring.so", "quick", {Verdict::Pass, 10ms});
  hints.add("ring.so", "slow", {Verdict::Pass, 5s});
  CHECK(ordered({planned("quick"), planned("new 1"), planned("slow"), planned("new 2")}, hints) ==
        Ids{"slow", "new 1", "new 2", "quick"});
}

TEST_CASE("plugins of one name may belong to different projects") {
  std::vector<PlannedTest> tests{planned("a", "one/ring.so"), planned("a", "two/ring.so")};
  order_failed_first(tests, [](const PlannedTest& test) {
    return Hint{test.plugin == "two/ring.so" ? Verdict::Fail : Verdict::Pass, 1ms};
  });
  CHECK(tests[0].plugin == "two/ring.so");
}

TEST_CASE("equal tests keep their order, and skipped ones come last") {
  Hints hints;
  for (const char* id : {"c", "a", "b"}) hints.add("ring.so", id, {Verdict::Pass, 1ms});
  hints.add("ring.so", "skipped", {Verdict::Fail, 1h});
  PlannedTest skipped = planned("skipped");
  skipped.info.skip = {{73, "small"}};
  CHECK(ordered({skipped, planned("c"), planned("a"), planned("b")}, hints) == Ids{"c", "a", "b", "skipped"});
}

TEST_CASE("a suite with persistent ranks stays together, ordered by the total time of its tests") {
  Hints hints;
  hints.add("ring.so", "quick", {Verdict::Pass, 1ms});
  hints.add("ring.so", "slow", {Verdict::Pass, 20s});
  for (const char* id : {"p1", "p2", "p3"}) hints.add("ring.so", id, {Verdict::Pass, 8s});
  std::vector<PlannedTest> tests = {planned("quick"), planned("slow")};
  for (const char* id : {"p1", "p2", "p3"}) {
    tests.push_back(planned(id));
    tests.back().info.suite = "Pooled";
    tests.back().variant.isolation = Isolation::Pool;
  }
  CHECK(ordered(tests, hints) == Ids{"p1", "p2", "p3", "slow", "quick"});
  hints.add("ring.so", "quick", {Verdict::Fail, 1ms});
  hints.add("ring.so", "p3", {Verdict::Fail, 1ms});
  CHECK(ordered(tests, hints) == Ids{"p3", "p1", "p2", "quick", "slow"});
}

TEST_CASE("a hint is found wherever the plugin is, and never for a test of another plugin") {
  Hints hints;
  hints.add("/opt/old/ring.so", "a", {Verdict::Fail, 1ms});
  CHECK(hints.of("here/ring.so", "a").last == Verdict::Fail);
  CHECK(hints.of("ring.so", "a").last == Verdict::Fail);
  CHECK_FALSE(hints.of("other.so", "a").last);
  CHECK_FALSE(hints.of("ring.so", "b").median);
  CHECK(plugin_name("a/b/ring.so") == "ring.so");
  CHECK(plugin_name("ring.so") == "ring.so");
}
