// Start, names and end of ranks, seen from outside.
#include <catch2/catch.hpp>

#include <set>

#include "run_case.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("a test has four ranks unless the run or the test says otherwise", "[row:multiprocess/default-world-size]") {
  CHECK(run_case("Scenario.all_succeed").attempt("Scenario.all_succeed").ranks.size() == 4);
  CHECK(run_case("Scenario.all_succeed", {"--world-size", "2"}).attempt("Scenario.all_succeed").ranks.size() == 2);
  const CaseRun fixed = run_case("Bounds.own", {"--world-size", "2"});
  CHECK(fixed.attempt("Bounds.own").ranks.size() == 1);
}

TEST_CASE("the start of every rank is reported with its process", "[row:multiprocess/starting-ranks]") {
  const CaseRun run = run_case("Scenario.all_succeed");
  CHECK(count_of(run.events, "\"kind\":\"rank_start\"") == 4);
  std::set<int> pids;
  for (const RankResult& rank : run.attempt("Scenario.all_succeed").ranks) {
    CHECK_THAT(run.events, Contains("\"pid\":" + std::to_string(rank.pid)));
    pids.insert(rank.pid);
  }
  CHECK(pids.size() == 4);
}

TEST_CASE("a rank with an exception in its body exits with 10, and a bare exit with 10 is a failure too",
          "[row:multiprocess_join/verdict-2-any-rank-with-code-10]") {
  const AttemptResult attempt = run_case("Scenario.one_exits_10").attempt("Scenario.one_exits_10");
  CHECK(attempt.verdict == "fail");
  CHECK(attempt.culprits == std::vector<int>{1});
  CHECK_THAT(attempt.message, Contains("rank 1 failed") && Contains("10"));
  const AttemptResult raised = run_case("Scenario.two_throw").attempt("Scenario.two_throw");
  for (const RankResult& rank : raised.ranks) CHECK(rank.exit_code == (rank.outcome == "failed" ? 10 : 0));
}

TEST_CASE("the host of a suite is rank -1, and 10 is the code of an error that test code raised",
          "[row:multiprocess/constants-parent-rank-1-error-code-10]") {
  const AttemptResult host = run_case("SetUpOnce.fails").attempt("SetUpOnce.fails");
  CHECK(host.culprits == std::vector<int>{-1});
  REQUIRE(host.ranks.size() == 1);
  CHECK(host.ranks.front().rank == -1);
  CHECK(host.ranks.front().exit_code == 10);
  CHECK_THAT(host.message, Contains("no dataset"));
  const AttemptResult raised = run_case("Scenario.two_throw").attempt("Scenario.two_throw");
  for (const RankResult& rank : raised.ranks) CHECK(rank.exit_code == (rank.rank % 2 == 1 ? 10 : 0));
  const AttemptResult exited = run_case("Scenario.all_exit_3").attempt("Scenario.all_exit_3");
  for (const RankResult& rank : exited.ranks) CHECK(rank.exit_code == 3);
}

TEST_CASE("a suite continues after its worst test", "[row:multiprocess/suite-is-never-stopped-early]") {
  const CaseRun run = run_tests(cases_plugin(), {"Scenario.*"}, {"--timeout", bound(300)});
  CHECK(run.test("Scenario.rank_3_crashes").verdict == "crash");
  CHECK(run.test("Scenario.one_ignores_termination").verdict == "timeout");
  CHECK(run.test("Scenario.prints").attempts.size() == 1);  // the last of the suite
}

TEST_CASE("a test that does not exist is named", "[row:multiprocess/constructor]") {
  const CaseRun run = run_tests(cases_plugin(), {"Scenario.no_such_test"});
  CHECK(run.ended.exit_code == 4);
  CHECK(run.summary.tests.empty());
  CHECK_THAT(run.console(), Contains("Scenario.no_such_test"));
}

TEST_CASE("directories and the rendezvous file are new for each attempt and removed afterwards",
          "[row:tempdir/initialize_temp_directories-init_method-None][row:tempdir/cleanup_temp_dir]"
          "[row:tempdir/file_name-per-test]") {
  const CaseRun run = run_case("Files.are_used", {"--repeat", "2"});
  const TestResult& test = run.test("Files.are_used");
  CHECK(test.verdict == "pass");
  REQUIRE(test.attempts.size() == 2);
  for (const char* note : {"file", "directory"}) {
    const std::string first = test.attempts[0].ranks.at(0).notes.at(note);
    CHECK(test.attempts[1].ranks.at(0).notes.at(note) != first);
    for (const RankResult& rank : test.attempts[0].ranks) CHECK(rank.notes.at(note) == first);
  }
  for (const AttemptResult& attempt : test.attempts) {
    for (const RankResult& rank : attempt.ranks) {
      CHECK_FALSE(exists(rank.notes.at("file")));
      CHECK_FALSE(exists(rank.notes.at("directory")));
    }
  }
}

// Lines that stay open would soon exceed the limit.
TEST_CASE("connections to ranks are closed after every verdict",
          "[row:multiprocess_join/closing-connections][row:multiprocess/who-closes-what]") {
  const Sandbox sandbox(DISTRUN_BIN);
  Command command = sandbox.command({});
  command.arguments = {"-c",
                       "ulimit -n 96; exec \"$@\"",
                       "sh",
                       DISTRUN_BIN,
                       "run",
                       "--output",
                       sandbox.output(),
                       "--repeat",
                       "20",
                       "--filter",
                       "Scenario.two_throw",
                       "--filter",
                       "Scenario.all_succeed",
                       "--filter",
                       "Thrown.by_all",
                       cases_plugin()};
  command.program = "/bin/sh";
  const Ended ended = Running(command).wait(scaled(milliseconds(60'000)));
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 1);
  const Summary summary = sandbox.summary();
  for (const TestResult& test : summary.tests) {
    INFO(test.id << ": " << test.verdict << " " << test.message);
    CHECK(test.attempts.size() == 20);
    for (const AttemptResult& attempt : test.attempts) CHECK(attempt.verdict == test.attempts.front().verdict);
  }
}
