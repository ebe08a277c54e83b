// The ways in which a test of several ranks can end.
#include <catch2/catch.hpp>

#include <signal.h>

#include <distrun/common/base/sanitizer.hpp>

#include "run_case.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

}  // namespace

TEST_CASE("a test passes if all its ranks return",
          "[row:scenario/all-ranks-succeed][row:multiprocess_join/verdict-5-success]"
          "[row:multiprocess_join/_check_return_codes-body-missing-in-the-reference]") {
  const CaseRun run = run_case("Scenario.all_succeed");
  CHECK(run.ended.exit_code == 0);
  CHECK(run.test("Scenario.all_succeed").verdict == "pass");
  CHECK(outcomes_of(run.attempt("Scenario.all_succeed")) == Texts{"passed", "passed", "passed", "passed"});
}

TEST_CASE("a rank that throws ends the test at once, and only it is blamed",
          "[row:scenario/one-rank-throws-others-block][row:multiprocess_join/early-termination-on-error]"
          "[row:multiprocess_child/body-throws-any-ordinary-exception]") {
  const CaseRun run = run_case("Scenario.one_throws", {"--timeout", "50s"});
  const AttemptResult& attempt = run.attempt("Scenario.one_throws");
  CHECK(attempt.verdict == "fail");
  CHECK(attempt.culprits == std::vector<int>{2});
  CHECK_THAT(attempt.message, Contains("rank 2 failed: the shard is torn") && !Contains("killed"));
  CHECK(outcomes_of(attempt) == Texts{"killed by us", "killed by us", "failed", "killed by us"});
  CHECK(errors_of(attempt) == Texts{"rank 2: the shard is torn"});
  CHECK(attempt.ranks.at(2).exit_code == 10);
  CHECK(attempt.duration_ms < scaled(milliseconds(10'000)).count());  // far below the bound
}

TEST_CASE("every failed rank has a paragraph, in the order of ranks",
          "[row:scenario/two-ranks-throw][row:multiprocess_join/verdict-2-any-rank-with-code-10]") {
  const AttemptResult attempt = run_case("Scenario.two_throw").attempt("Scenario.two_throw");
  CHECK(attempt.verdict == "fail");
  CHECK(errors_of(attempt) == Texts{"rank 1: from rank 1", "rank 3: from rank 3"});
  const AttemptResult grace =
      run_case("Scenario.others_fail_in_their_grace").attempt("Scenario.others_fail_in_their_grace");
  CHECK(grace.culprits == std::vector<int>{0});
  CHECK(errors_of(grace) ==
        Texts{"rank 0: the first", "rank 1: and rank 1", "rank 2: and rank 2", "rank 3: and rank 3"});
}

TEST_CASE("an error text of two megabytes arrives at once",
          "[row:scenario/huge-error-text][row:multiprocess/what-travels-on-the-connection]") {
  const CaseRun run = run_case("Scenario.huge_error_text", {"--timeout", "50s"});
  const AttemptResult& attempt = run.attempt("Scenario.huge_error_text");
  CHECK(attempt.verdict == "fail");
  CHECK(attempt.culprits == std::vector<int>{1});
  const std::string& text = attempt.ranks.at(1).error_texts.at(0);
  CHECK(text.size() == 6 + (2 << 20) + 4);
  CHECK((text == "begin " + std::string(2 << 20, 'x') + " end"));  // too long to print on failure
  CHECK(attempt.duration_ms < scaled(milliseconds(20'000)).count());
}

TEST_CASE("a rank that dies by a signal is a crash, and a declared death is not",
          "[row:scenario/rank-dies-by-a-signal][row:multiprocess_join/skip_return_code_checks]"
          "[row:multiprocess_join/_check_no_test_errors]") {
  const CaseRun run = run_tests(cases_plugin(), {"Scenario.*crash*"});
  const AttemptResult& crash = run.attempt("Scenario.rank_3_crashes");
  CHECK(crash.verdict == "crash");
  CHECK(crash.culprits == std::vector<int>{3});
  CHECK_THAT(crash.message, Contains("rank 3") && Contains("signal 11 (SIGSEGV)"));
  CHECK(crash.ranks.at(3).signal == 11);
  CHECK(run.test("Scenario.declared_crash").verdict == "pass");
  CHECK(run.attempt("Scenario.declared_crash").ranks.at(3).outcome == "signaled");
  const AttemptResult& failure = run.attempt("Scenario.declared_crash_and_a_failure");
  CHECK(failure.verdict == "fail");
  CHECK(failure.culprits == std::vector<int>{1});
}

TEST_CASE("ranks that call exit() have no result, with any code",
          "[row:scenario/all-ranks-exit-with-the-same-odd-code][row:multiprocess_child/body-calls-exit-itself]"
          "[row:multiprocess_join/verdict-3-unknown-code-or-codes-differ]") {
  const CaseRun run = run_tests(cases_plugin(), {"Scenario.all_exit_*"});
  CHECK(run.ended.exit_code == 1);
  CHECK(run.test("Scenario.all_exit_3").verdict == "crash");
  CHECK_THAT(run.test("Scenario.all_exit_3").message, Contains("code 3") && Contains("without a result"));
  CHECK(run.test("Scenario.all_exit_0").verdict == "crash");
  CHECK_THAT(run.test("Scenario.all_exit_0").message, Contains("code 0") && Contains("without a result"));
}

TEST_CASE("different exit codes are reported for each rank, and a rank without one is ended",
          "[row:multiprocess_join/verdict-3-unknown-code-or-codes-differ]") {
  const CaseRun run = run_tests(cases_plugin(), {"Scenario.exit_codes_differ", "Scenario.one_exits_while_others_hang"},
                                {"--timeout", "50s"});
  const AttemptResult& differ = run.attempt("Scenario.exit_codes_differ");
  CHECK(differ.verdict == "crash");
  for (const RankResult& rank : differ.ranks) {
    INFO("rank " << rank.rank << " " << rank.outcome);
    CHECK((rank.outcome == "exited" || rank.outcome == "killed by us"));
    if (rank.outcome == "exited") CHECK(rank.exit_code == (rank.rank == 0 ? 3 : 4));
  }
  REQUIRE_FALSE(differ.culprits.empty());
  CHECK_THAT(differ.message, Contains(differ.culprits.front() == 0 ? "exited with code 3" : "exited with code 4"));
  const AttemptResult& hang = run.attempt("Scenario.one_exits_while_others_hang");
  CHECK(hang.verdict == "crash");
  CHECK(hang.culprits == std::vector<int>{1});
  CHECK_THAT(hang.message, Contains("exited with code 4"));
  CHECK(outcomes_of(hang) == Texts{"killed by us", "exited", "killed by us", "killed by us"});
  CHECK(hang.duration_ms < scaled(milliseconds(10'000)).count());  // far below the bound
}

TEST_CASE("hanging ranks are named with their stacks, and finished ones are not",
          "[row:scenario/hang][row:multiprocess_join/timeout-handling]"
          "[row:multiprocess_join/traceback-collection-phase-1]") {
  const AttemptResult attempt =
      run_case("Scenario.two_finish_two_hang", {"--timeout", bound(500)}).attempt("Scenario.two_finish_two_hang");
  CHECK(attempt.verdict == "timeout");
  CHECK(attempt.culprits == std::vector<int>{2, 3});
  CHECK_THAT(attempt.message, Contains("timed out after") && Contains("in the test body"));
  CHECK(outcomes_of(attempt) == Texts{"passed", "passed", "timed out", "timed out"});
  REQUIRE(attempt.snapshots.size() == 1);
  CHECK_THAT(attempt.snapshots.front().text, Contains("two_finish_two_hang") && Contains("hang"));
}

TEST_CASE("a stopped rank does not delay the stacks of others and is still ended",
          "[row:scenario/rank-cannot-answer-the-traceback-request]"
          "[row:multiprocess_join/traceback-collection-phase-2]") {
  const AttemptResult attempt =
      run_case("Scenario.one_is_stopped", {"--timeout", bound(500)}).attempt("Scenario.one_is_stopped");
  CHECK(attempt.verdict == "timeout");
  REQUIRE(attempt.snapshots.size() == 1);
  for (int rank = 0; rank < 4; ++rank) {
    const SeenProcess* seen = attempt.snapshots.front().find(rank);
    INFO("rank " << rank);
    REQUIRE(seen != nullptr);
    CHECK(seen->threads_with_stacks > 0);
  }
  CHECK_THAT(attempt.snapshots.front().text, Contains("stopped"));
}

// The rank's child holds all of its threads: neither the probe nor the listener can answer. That costs at most a
// second.
TEST_CASE("a rank without stacks delays the others by a second at most",
          "[row:scenario/rank-cannot-answer-the-traceback-request]"
          "[row:multiprocess_join/traceback-collection-phase-2]") {
  constexpr milliseconds kLook(distrun::base::kSanitized ? 4000 : 1000), kSlack(1000);
  const AttemptResult attempt =
      run_case("Listener.cannot_answer", {"--timeout", bound(500)}).attempt("Listener.cannot_answer");
  CHECK(attempt.verdict == "timeout");
  REQUIRE(attempt.snapshots.size() == 1);
  for (int rank = 0; rank < 4; ++rank) {
    const SeenProcess* seen = attempt.snapshots.front().find(rank);
    INFO("rank " << rank);
    REQUIRE(seen != nullptr);
    CHECK((seen->threads_with_stacks > 0) == (rank != 1));
    CHECK(seen->not_answered.empty() == (rank != 1));
  }
  CHECK(attempt.duration_ms < (scaled(milliseconds(500) + kSlack) + kLook).count());
}

TEST_CASE("a rank that ignores termination is killed", "[row:multiprocess/tear-down-parent-per-test]") {
  const CaseRun run = run_case("Scenario.one_ignores_termination", {"--timeout", bound(300)});
  const AttemptResult& attempt = run.attempt("Scenario.one_ignores_termination");
  CHECK(attempt.verdict == "timeout");
  for (const RankResult& rank : attempt.ranks) CHECK(rank.signal == (rank.rank == 1 ? SIGKILL : SIGTERM));
  CHECK(run.remains.empty());
}

TEST_CASE("output of ranks is in the report, each line with its rank", "[row:helpers/logging-set-up]") {
  const CaseRun run = run_case("Scenario.prints");
  const AttemptResult& attempt = run.attempt("Scenario.prints");
  for (const RankResult& rank : attempt.ranks) {
    CHECK(rank.out == "hello from " + std::to_string(rank.rank) + "\n");
    CHECK(rank.err == "oops from " + std::to_string(rank.rank) + "\n");
  }
  CHECK_THAT(run.console(), Contains("2| hello from 2") && Contains("2| oops from 2"));
}

TEST_CASE("a debug level that fails is named, and the variable is restored",
          "[row:env/with_dist_debug_levels-levels]") {
  const AttemptResult attempt = run_case("Levels.one_fails").attempt("Levels.one_fails");
  CHECK(attempt.verdict == "fail");
  CHECK(attempt.culprits == std::vector<int>{1});
  REQUIRE(attempt.ranks.at(1).error_texts.size() == 1);
  CHECK_THAT(attempt.ranks.at(1).error_texts.front(), Contains("[level=INFO] ") && Contains("too much to tell"));
  for (const RankResult& rank : attempt.ranks) {
    CHECK(rank.notes.at("seen") == "OFF INFO DETAIL ");
    CHECK(rank.notes.at("afterwards").empty());
  }
}

TEST_CASE("an element that fails is named, and the others run",
          "[row:helpers/run_subtests-inst-config-fn-args...-kwargs]") {
  const AttemptResult attempt = run_case("Subtests.one_fails").attempt("Subtests.one_fails");
  CHECK(attempt.verdict == "fail");
  CHECK(attempt.culprits == std::vector<int>{1});
  REQUIRE(attempt.ranks.at(1).error_texts.size() == 1);
  CHECK_THAT(attempt.ranks.at(1).error_texts.front(), Contains("[count=2]"));
  for (const RankResult& rank : attempt.ranks) CHECK(rank.notes.at("ran") == "123");
}
