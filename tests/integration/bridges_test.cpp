// Plugins of other frameworks from outside: listing, reports, and tests that were not written for distrun.
// tests/fixtures/expected_bridges.hpp has the expected results of our own.
#include <catch2/catch.hpp>

#include <string>

#include "programs.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

// Runs the test and returns the result of its first rank.
RankResult first_rank(const Sandbox& sandbox, const std::string& plugin_name, const std::string& test) {
  const Ended ended = sandbox.run({"run", "--output", sandbox.output(), "--filter", test, plugin(plugin_name)});
  INFO(ended.out + ended.err);
  const Summary summary = sandbox.summary();
  const TestResult* result = summary.find(test);
  REQUIRE(result != nullptr);
  REQUIRE(result->attempts.size() == 1);
  REQUIRE_FALSE(result->attempts[0].ranks.empty());
  return result->attempts[0].ranks[0];
}

std::int64_t checks_of(const TestResult& test) {
  std::int64_t checks = 0;
  for (const AttemptResult& attempt : test.attempts) {
    for (const RankResult& rank : attempt.ranks) checks += rank.checks;
  }
  return checks;
}

}  // namespace

TEST_CASE("a list has the framework's own names beside the ids", "[bridges]") {
  const Sandbox sandbox(distrun_program());
  const Ended gtest = sandbox.run({"list", plugin("gtest")});
  CHECK(gtest.exit_code == 0);
  CHECK_THAT(gtest.out, Contains("Gtest.passes  (4 ranks)\n"));
  CHECK_THAT(gtest.out, Contains("GtestPair.exchanges_names  (2 ranks)\n"));
  CHECK_THAT(gtest.out, Contains("GtestValues.are_small/instance=Odd,param=is_3  (4 ranks)  "
                                 "Odd/GtestValues.are_small/is_3  GetParam() = 3\n"));
  CHECK_THAT(gtest.out, Contains("GtestTypes/a:b-c*, %d.begin_with_zero  TypeParam = char\n"));
  CHECK_THAT(gtest.out, Contains("Gtest.DISABLED_does_not_run  (skipped: "));
  const Ended catch2 = sandbox.run({"list", plugin("catch2")});
  CHECK(catch2.exit_code == 0);
  CHECK_THAT(catch2.out, Contains("catch2_tests.two%20names  (4 ranks)  \"two names\"\n"));
  CHECK_THAT(catch2.out, Contains("(3 ranks)  \"tags are options\"  [timeout=5s][world_size=3]\n"));
  CHECK_THAT(catch2.out, !Contains("hidden"));
  const Ended json = sandbox.run({"list", "--json", "--filter", "*two_names", plugin("catch2")});
  CHECK_THAT(json.out, Contains("\"description\": \"\\\"two_names\\\"\""));
}

TEST_CASE("disabled and hidden tests run when the environment requests them", "[bridges]") {
  const Sandbox sandbox(distrun_program());
  Command disabled = sandbox.command({"run", "--filter", "*DISABLED*", plugin("gtest")});
  disabled.environment.emplace_back("GTEST_ALSO_RUN_DISABLED_TESTS=1");
  const Ended ran = Running(disabled).wait(scaled(milliseconds(30'000)));
  CHECK(ran.exit_code == 1);
  CHECK_THAT(ran.out, Contains("a disabled test ran"));
  Command hidden = sandbox.command({"run", "--filter", "*hidden", plugin("catch2")});
  hidden.environment.emplace_back("DISTRUN_CATCH2_HIDDEN=1");
  const Ended shown = Running(hidden).wait(scaled(milliseconds(30'000)));
  CHECK(shown.exit_code == 1);
  CHECK_THAT(shown.out, Contains("FAIL: a hidden test case ran"));
}

TEST_CASE("properties and expected failures are notes, and assertions are counted", "[bridges]") {
  const Sandbox sandbox(distrun_program());
  const RankResult recorded = first_rank(sandbox, "gtest", "Gtest.records_properties");
  CHECK(recorded.notes.at("answer") == "42");
  CHECK(first_rank(sandbox, "gtest", "Gtest.passes").checks == 2);
  CHECK(first_rank(sandbox, "catch2", "catch2_tests.exceptions_that_are_expected").checks == 3);
  const RankResult may_fail = first_rank(sandbox, "catch2", "catch2_tests.may_fail_and_does");
  CHECK(may_fail.checks == 1);
  CHECK_THAT(may_fail.notes.at("failed, as it may"), Contains("CHECK(1 == 2)"));
  CHECK(first_rank(sandbox, "catch2", "catch2_tests.should_fail_and_does").notes.contains("failed, as it should"));
}

TEST_CASE("GoogleTest's environment variables do not change what runs", "[bridges]") {
  const Sandbox sandbox(distrun_program());
  Command command = sandbox.command({"run", "--filter", "Gtest.passes", plugin("gtest")});
  for (const char* variable : {"GTEST_FILTER=Other.*", "GTEST_TOTAL_SHARDS=2", "GTEST_SHARD_INDEX=1", "GTEST_REPEAT=3",
                               "GTEST_OUTPUT=xml", "GTEST_LIST_TESTS=1"}) {
    command.environment.emplace_back(variable);
  }
  const Ended ended = Running(command).wait(scaled(milliseconds(30'000)));
  CHECK(ended.exit_code == 0);
  CHECK(sandbox.remains().empty());
}

#ifdef DISTRUN_GOOGLETESTS_OWN
// These tests were written for one process that runs them all; each also passes in a separate process, except those
// named.
TEST_CASE("GoogleTest's own samples and tests run as ranks", "[bridges]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended =
      sandbox.run({"run", "--output", sandbox.output(), plugin("googletests_own")}, milliseconds(120'000));
  CHECK(ended.exit_code == 1);
  const Summary summary = sandbox.summary();
  CHECK(summary.problems.empty());
  CHECK(summary.tests.size() > 100);
  const TestResult* primes = summary.find("IsPrimeTest.Positive");
  REQUIRE(primes != nullptr);
  CHECK(checks_of(*primes) == 2 * 4);  // of sample1_unittest.cc, on two ranks
  for (const TestResult& test : summary.tests) {
    INFO(test.id << ": " << test.message);
    const bool needs_program = test.message.find("distrun cannot restart a rank") != std::string::npos;
    if (test.id == "CustomOutputTest.Fails") {
      CHECK_THAT(test.message, Contains("This test fails in order to demonstrate"));
    } else if (test.id.starts_with("SkipTest.") || test.id.starts_with("Fixture.")) {
      CHECK(test.verdict == "skip");
    } else {
      CHECK(test.verdict == (needs_program ? "fail" : "pass"));
    }
  }
}
#endif
