#include <catch2/catch.hpp>

#include <set>

#include <distrun/runner/record/judge.hpp>

#include "samples.hpp"

using namespace distrun::runner;

namespace {

struct Row {
  std::vector<Verdict> verdicts;
  int code;
};

RunRecord run_of(const std::vector<Verdict>& verdicts) {
  RunRecord run;
  for (const Verdict verdict : verdicts) {
    TestRecord test;
    test.verdict = verdict;
    ++run.totals[static_cast<std::size_t>(verdict)];
    run.tests.push_back(std::move(test));
  }
  return run;
}

AttemptRecord attempt(AttemptKind kind, Verdict verdict) {
  AttemptRecord record;
  record.kind = kind;
  record.verdict = verdict;
  return record;
}

}  // namespace

TEST_CASE("the exit code follows from the verdicts") {
  using enum Verdict;
  const Row rows[] = {
      {{}, 4},
      {{Pass}, 0},
      {{Flaky}, 0},
      {{Pass, Skip, Flaky}, 0},
      {{Skip}, 4},
      {{Skip, Skip}, 4},
      {{Pass, Fail}, 1},
      {{Crash}, 1},
      {{Timeout}, 1},
      {{Deadlock}, 1},
      {{Leak}, 1},
      {{Cancelled}, 1},
      {{Skip, Fail}, 1},
      {{Pass, InfraError}, 3},
      {{Fail, InfraError}, 3},
      {{Skip, InfraError}, 3},
  };
  for (const Row& row : rows) {
    INFO("row " << &row - rows);
    CHECK(exit_code_of(run_of(row.verdicts)) == row.code);
  }
}

TEST_CASE("exit codes take precedence 130, 3, 1, 4") {
  RunRecord run = run_of({Verdict::Fail});
  CHECK(exit_code_of(run) == 1);
  run.problems.push_back({"ring.so", "list", "it crashed"});
  CHECK(exit_code_of(run) == 3);
  run.interrupted = true;
  CHECK(exit_code_of(run) == 130);
  RunRecord nothing;
  nothing.problems.push_back({"ring.so", "list", "it crashed"});
  CHECK(exit_code_of(nothing) == 3);
  nothing.interrupted = true;
  CHECK(exit_code_of(nothing) == 130);
}

TEST_CASE("flaky tests are no failures, except on request") {
  RunRecord flaky = run_of({Verdict::Pass, Verdict::Flaky});
  CHECK(exit_code_of(flaky) == 0);
  flaky.settings.flaky_fails = true;
  CHECK(exit_code_of(flaky) == 1);
}

TEST_CASE("skips pass on request, and an empty run does not") {
  RunRecord skips = run_of({Verdict::Skip});
  skips.settings.skips_pass = true;
  CHECK(exit_code_of(skips) == 0);
  RunRecord nothing;
  nothing.settings.skips_pass = true;
  CHECK(exit_code_of(nothing) == 4);
}

TEST_CASE("a test's verdict is that of its attempts") {
  using enum Verdict;
  constexpr auto kFirst = AttemptKind::First;
  constexpr auto kRepeat = AttemptKind::Repeat;
  constexpr auto kRetry = AttemptKind::Retry;
  struct Case {
    std::vector<std::pair<AttemptKind, Verdict>> attempts;
    Verdict verdict;
  };
  const Case cases[] = {
      {{}, Skip},
      {{{kFirst, Pass}}, Pass},
      {{{kFirst, Fail}}, Fail},
      {{{kFirst, Skip}}, Skip},
      {{{kFirst, Leak}}, Leak},
      // Retries: the last one counts.
      {{{kFirst, Fail}, {kRetry, Pass}}, Flaky},
      {{{kFirst, Fail}, {kRetry, Crash}, {kRetry, Pass}}, Flaky},
      {{{kFirst, Fail}, {kRetry, Crash}}, Crash},
      {{{kFirst, Fail}, {kRetry, Skip}}, Skip},
      // Repeats: each counts, the first bad one wins.
      {{{kFirst, Pass}, {kRepeat, Pass}}, Pass},
      {{{kFirst, Pass}, {kRepeat, Fail}}, Fail},
      {{{kFirst, Fail}, {kRepeat, Pass}}, Fail},
      {{{kFirst, Pass}, {kRepeat, Timeout}, {kRepeat, Crash}}, Timeout},
      {{{kFirst, Skip}, {kRepeat, Pass}}, Pass},
      // Both.
      {{{kFirst, Pass}, {kRepeat, Fail}, {kRetry, Pass}}, Flaky},
      {{{kFirst, Fail}, {kRetry, Pass}, {kRepeat, Fail}, {kRetry, Fail}}, Fail},
      {{{kFirst, Fail}, {kRetry, Pass}, {kRepeat, Crash}}, Crash},
  };
  for (const Case& one : cases) {
    std::vector<AttemptRecord> attempts;
    for (const auto& [kind, verdict] : one.attempts) attempts.push_back(attempt(kind, verdict));
    INFO("case " << &one - cases);
    CHECK(std::string(name_of(judge_test(attempts))) == name_of(one.verdict));
  }
}

TEST_CASE("every enumerator has a distinct name") {
  std::set<std::string> verdicts;
  for (int i = 0; i < kVerdictCount; ++i) verdicts.insert(name_of(static_cast<Verdict>(i)));
  CHECK(verdicts.size() == kVerdictCount);
  CHECK_FALSE(verdicts.contains("unknown"));
  CHECK(std::string(name_of(static_cast<Verdict>(kVerdictCount))) == "unknown");
  std::set<std::string> outcomes{name_of(OutcomeKind::Running)};
  for (const OutcomeKind kind : samples::kFinalKinds) outcomes.insert(name_of(kind));
  CHECK(outcomes.size() == 9);
  std::set<std::string> leaks;
  for (const auto kind :
       {LeakKind::Process, LeakKind::SharedMemory, LeakKind::Socket, LeakKind::File, LeakKind::Descriptor,
        LeakKind::Thread, LeakKind::State, LeakKind::Semaphores, LeakKind::Queue}) {
    leaks.insert(name_of(kind));
  }
  CHECK(leaks.size() == 9);
  CHECK(std::string(name_of(AttemptKind::Retry)) == "retry");
}

TEST_CASE("pass, skip and flaky are good verdicts, and no others are") {
  for (int i = 0; i < kVerdictCount; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    CHECK(is_good(verdict) == (verdict == Verdict::Pass || verdict == Verdict::Skip || verdict == Verdict::Flaky));
  }
}

TEST_CASE("a shard that gets no tests of a non-empty run is fine, but a shard of an empty run is not") {
  RunRecord run;
  run.settings.shard = {3, 3};
  CHECK(exit_code_of(run) == 4);  // no test was selected for any of the shards
  run.selected = 2;
  CHECK(exit_code_of(run) == 0);
  run.problems.push_back({"ring.so", "list", "gone"});
  CHECK(exit_code_of(run) == 3);
}

TEST_CASE("a shard with tests that could not run is not empty") {
  RunRecord run;
  run.settings.shard = {1, 3};
  run.selected = 2;
  run.not_run = 1;
  CHECK(exit_code_of(run) == 4);
}
