// Persistent ranks on two hosts that are nodes of this machine.
#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "programs.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;
using Texts = std::vector<std::string>;

// Runs tests with `--isolation pool`, and checks that nothing is left at the end.
Summary run_pool(const Sandbox& sandbox, const Texts& more, const std::string& isolation = "pool") {
  Texts words{"run",     "--hosts", "a,b",   "--launcher", "local",         "--isolation",
              isolation, "--color", "never", "--output",   sandbox.output()};
  words.insert(words.end(), more.begin(), more.end());
  const Ended ended = sandbox.run(words, at_latest(milliseconds(60'000)));
  INFO(ended.out << ended.err);
  CHECK_FALSE(ended.out_of_time);
  for (const std::string& left : sandbox.remains()) FAIL_CHECK(left);
  sandbox.sweep();
  return sandbox.summary();
}

// The processes that ran rank `rank` of each test's first attempt.
std::set<int> pids_of_rank(const Summary& summary, std::size_t rank) {
  std::set<int> pids;
  for (const TestResult& test : summary.tests) pids.insert(test.attempts.at(0).ranks.at(rank).pid);
  return pids;
}

}  // namespace

TEST_CASE("one set of ranks on two hosts runs all tests of a suite", "[hosts][isolation]") {
  const Sandbox sandbox(distrun_program());
  const Summary summary = run_pool(sandbox, {"--filter", "Passes.trivial", "--filter", "Passes.barriers", "--filter",
                                             "Passes.ring", plugin("passes")});
  REQUIRE(summary.tests.size() == 3);
  for (const TestResult& test : summary.tests) CHECK(test.verdict == "pass");
  for (std::size_t rank = 0; rank < 4; ++rank) CHECK(pids_of_rank(summary, rank).size() == 1);
}

TEST_CASE("a crash of persistent ranks on hosts does not reach the next test, ten times", "[hosts][isolation]") {
  const Sandbox sandbox(distrun_program());
  const Summary summary = run_pool(sandbox, {"--filter", "Alternates.*/hundred=3,ten=3,*", plugin("alternates")});
  REQUIRE(summary.tests.size() == 20);
  for (const TestResult& test : summary.tests) {
    INFO(test.id << ": " << test.message);
    CHECK(test.verdict == (test.id.ends_with("crash") ? "crash" : "pass"));
  }
  CHECK(pids_of_rank(summary, 0).size() == 11);  // those that a crash ends, and the last
}

TEST_CASE("each test of persistent ranks on hosts begins with an empty store", "[hosts][isolation]") {
  const Sandbox sandbox(distrun_program());
  const Summary summary = run_pool(sandbox, {"--repeat", "3", "--filter", "Stores.begin_empty*", plugin("runtime")});
  REQUIRE(summary.tests.size() == 1);
  CHECK(summary.tests.at(0).verdict == "pass");
  CHECK(summary.tests.at(0).attempts.size() == 3);
  CHECK(summary.tests.at(0).attempts.at(0).ranks.at(3).pid == summary.tests.at(0).attempts.at(2).ranks.at(3).pid);
}

TEST_CASE("what persistent ranks leave on a host belongs to the test, and the next test has fresh ranks",
          "[hosts][isolation]") {
  const Sandbox sandbox(distrun_program());
  const Summary summary =
      run_pool(sandbox, {"-w", "2", "--filter", "Leaves.child", "--filter", "Leaves.program", "--filter",
                         "Leaves.tmp_files", "--filter", "Leaves.nothing", plugin("leaves")});
  REQUIRE(summary.tests.size() == 4);
  for (const TestResult& test : summary.tests) {
    INFO(test.id << ": " << test.message);
    const bool leaves = test.id != "Leaves.nothing";
    CHECK(test.verdict == (leaves ? "leak" : "pass"));
    CHECK(test.attempts.at(0).leaks.empty() != leaves);
    for (const LeakResult& leak : test.attempts.at(0).leaks) CHECK_THAT(leak.what, Contains(" on b"));
  }
  CHECK(pids_of_rank(summary, 1).size() == 4);
}

TEST_CASE("what a test changes in persistent ranks on hosts is restored for the next", "[hosts][isolation]") {
  const Sandbox sandbox(distrun_program());
  const Summary summary =
      run_pool(sandbox, {"--filter", "ChangesUmask.*", "--filter", "ChangesDirectory.*", plugin("changes")});
  CHECK(summary.tests.size() == 4);
  for (const TestResult& test : summary.tests) {
    INFO(test.id << ": " << test.message);
    CHECK(test.verdict == "pass");
  }
}

TEST_CASE("tests for ranks that are threads run with persistent ranks on hosts, and the report says so",
          "[hosts][isolation]") {
  const Sandbox sandbox(distrun_program());
  const Summary summary = run_pool(sandbox, {"--filter", "Passes.trivial", plugin("passes")}, "threads");
  REQUIRE(summary.tests.size() == 1);
  CHECK(summary.tests.at(0).verdict == "pass");
  CHECK_THAT(read_file(sandbox.output() + "/summary.json"),
             Contains("\"isolation\": \"pool\"") && Contains("ranks are separate processes"));
}
