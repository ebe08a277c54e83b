#include <catch2/catch.hpp>

#include <csignal>

#include <distrun/runner/attempt/rank_state.hpp>

#include "../record/samples.hpp"

using namespace distrun;
using namespace distrun::runner;
using proc::ExitStatus;

namespace {

// The report of a rank before it ended.
enum class Reported { Nothing, Passed, NotPassed, FailedCheck, FatalError, SkipOnly, Skip, SkipAfterError };

RankState state_of(Reported told) {
  RankState rank;
  rank.done = told != Reported::Nothing && told != Reported::FatalError && told != Reported::SkipOnly;
  rank.done_passed = told == Reported::Passed || told == Reported::FailedCheck;
  if (told == Reported::FailedCheck || told == Reported::SkipAfterError) {
    rank.record.errors.push_back(samples::error_of("2 == 3", false));
  }
  if (told == Reported::FatalError) rank.record.errors.push_back(samples::error_of("token is lost"));
  if (told == Reported::SkipOnly || told == Reported::Skip || told == Reported::SkipAfterError) {
    rank.skip = wire::SkipReport{74, "no CUDA"};
  }
  return rank;
}

struct Row {
  Reported told;
  ExitStatus status;
  bool signaled_by_us;
  OutcomeKind kind;
  int value;
};

const ExitStatus kClean = ExitStatus::of_code(0);
const ExitStatus kSegv = ExitStatus::of_signal(SIGSEGV);
const ExitStatus kTerm = ExitStatus::of_signal(SIGTERM);

const Row kRows[] = {
    // A reported result counts unless the exit contradicts it.
    {Reported::Passed, kClean, false, OutcomeKind::Passed, 0},
    {Reported::Passed, ExitStatus::of_code(3), false, OutcomeKind::Exited, 3},
    {Reported::Passed, kSegv, false, OutcomeKind::Signaled, SIGSEGV},
    {Reported::NotPassed, ExitStatus::of_code(10), false, OutcomeKind::Failed, 10},
    {Reported::NotPassed, kClean, false, OutcomeKind::Failed, 0},
    {Reported::FailedCheck, ExitStatus::of_code(10), false, OutcomeKind::Failed, 10},
    {Reported::FailedCheck, kClean, false, OutcomeKind::Failed, 0},
    {Reported::Skip, ExitStatus::of_code(86), false, OutcomeKind::Skipped, 74},
    {Reported::Skip, ExitStatus::of_code(7), false, OutcomeKind::Exited, 7},
    {Reported::Passed, ExitStatus::of_code(86), false, OutcomeKind::Exited, 86},
    {Reported::NotPassed, ExitStatus::of_code(7), false, OutcomeKind::Failed, 7},
    {Reported::SkipAfterError, ExitStatus::of_code(86), false, OutcomeKind::Failed, 86},
    // An error that ended the body is a failure, however the rank ended.
    {Reported::FatalError, ExitStatus::of_code(10), false, OutcomeKind::Failed, 10},
    {Reported::FatalError, kClean, false, OutcomeKind::Failed, 0},
    {Reported::FatalError, kSegv, false, OutcomeKind::Failed, 0},
    {Reported::FatalError, kTerm, true, OutcomeKind::Failed, 0},
    // Without a result, only the exit counts.
    {Reported::Nothing, kClean, false, OutcomeKind::Exited, 0},
    {Reported::Nothing, ExitStatus::of_code(1), false, OutcomeKind::Exited, 1},
    {Reported::Nothing, ExitStatus::of_code(10), false, OutcomeKind::Failed, 10},
    {Reported::Nothing, ExitStatus::of_code(72), false, OutcomeKind::Skipped, 72},
    {Reported::Nothing, ExitStatus::of_code(88), false, OutcomeKind::Skipped, 88},
    {Reported::Nothing, ExitStatus::of_code(71), false, OutcomeKind::Exited, 71},
    {Reported::Nothing, ExitStatus::of_code(89), false, OutcomeKind::Exited, 89},
    {Reported::Nothing, ExitStatus::of_code(-1), false, OutcomeKind::Lost, 0},
    {Reported::Nothing, kSegv, false, OutcomeKind::Signaled, SIGSEGV},
    {Reported::SkipOnly, kClean, false, OutcomeKind::Exited, 0},
    {Reported::SkipOnly, kSegv, false, OutcomeKind::Signaled, SIGSEGV},
    // If distrun ended the rank, that is its outcome, unless it had reported a result.
    {Reported::Nothing, kTerm, true, OutcomeKind::KilledByUs, 0},
    {Reported::Nothing, ExitStatus::of_signal(SIGKILL), true, OutcomeKind::KilledByUs, 0},
    {Reported::Nothing, kClean, true, OutcomeKind::KilledByUs, 0},
    {Reported::Passed, kTerm, true, OutcomeKind::Passed, 0},
    {Reported::NotPassed, kTerm, true, OutcomeKind::Failed, 0},
    {Reported::Skip, kTerm, true, OutcomeKind::Skipped, 74},
};

}  // namespace

TEST_CASE("a rank's outcome is what it reported, what was done to it, and how it ended, in that order") {
  for (const Row& row : kRows) {
    RankState rank = state_of(row.told);
    rank.signaled_by_us = row.signaled_by_us;
    const Outcome outcome = outcome_at_end(rank, row.status);
    INFO("row " << &row - kRows);
    CHECK(std::string(name_of(outcome.kind)) == name_of(row.kind));
    CHECK(outcome.value == row.value);
  }
}

TEST_CASE("a skip has the reason that the rank reported, or that of its exit code") {
  CHECK(outcome_at_end(state_of(Reported::Skip), ExitStatus::of_code(86)).text == "no CUDA");
  CHECK(outcome_at_end(RankState{}, ExitStatus::of_code(74)).text == "CUDA is not available.");
  RankState thread;
  thread.shares_process = true;  // one rank's code would skip or fail the others
  CHECK(outcome_at_end(thread, ExitStatus::of_code(74)).kind == OutcomeKind::Exited);
  CHECK(outcome_at_end(thread, ExitStatus::of_code(10)).kind == OutcomeKind::Exited);
}

TEST_CASE("a bad outcome that was decided before the end stays") {
  for (const OutcomeKind kind : samples::kFinalKinds) {
    RankState rank = state_of(Reported::Passed);
    rank.record.outcome = samples::outcome_of(kind);
    const Outcome outcome = outcome_at_end(rank, kClean);
    CHECK(outcome.kind == (is_failure(rank.record.outcome) ? kind : OutcomeKind::Passed));
  }
}

TEST_CASE("failed, died, timed out and lost are the bad outcomes of a rank itself") {
  for (const OutcomeKind kind : samples::kFinalKinds) {
    const bool own = kind != OutcomeKind::Passed && kind != OutcomeKind::Skipped && kind != OutcomeKind::KilledByUs;
    CHECK(is_failure({kind, 0, ""}) == own);
  }
  CHECK_FALSE(is_failure(Outcome{}));
}

TEST_CASE("a declared exit code is a death, even the code of an error or a skip, unless a result was reported") {
  const std::vector<wire::MayDie> any_way{{-1, wire::DeathKind::Any, 0}};
  const auto end = [&](Reported told, ExitStatus status) { return outcome_at_end(state_of(told), status, any_way); };
  for (const int code : {0, 3, 10, 72, 86}) {
    const std::vector<wire::MayDie> with_code{{0, wire::DeathKind::ExitCode, code}};
    const Outcome death{OutcomeKind::Exited, code, ""};
    const RankState rank = state_of(Reported::Nothing);
    CHECK(outcome_at_end(rank, ExitStatus::of_code(code), with_code) == death);
    CHECK(outcome_at_end(rank, ExitStatus::of_code(code), any_way) == death);
    CHECK(outcome_at_end(rank, ExitStatus::of_code(code), {{1, wire::DeathKind::Any, 0}}) ==
          outcome_at_end(rank, ExitStatus::of_code(code)));
  }
  CHECK(end(Reported::Nothing, kSegv).kind == OutcomeKind::Signaled);
  CHECK(end(Reported::Nothing, ExitStatus::of_code(-1)).kind == OutcomeKind::Lost);
  CHECK(end(Reported::FatalError, ExitStatus::of_code(10)).kind == OutcomeKind::Failed);
  CHECK(end(Reported::NotPassed, ExitStatus::of_code(10)).kind == OutcomeKind::Failed);
  CHECK(end(Reported::Skip, ExitStatus::of_code(86)).kind == OutcomeKind::Skipped);
  CHECK(end(Reported::SkipOnly, ExitStatus::of_code(86)).kind == OutcomeKind::Skipped);
  CHECK(end(Reported::Passed, kClean).kind == OutcomeKind::Passed);
  RankState ended_by_us;
  ended_by_us.signaled_by_us = true;
  CHECK(outcome_at_end(ended_by_us, ExitStatus::of_code(10), any_way).kind == OutcomeKind::KilledByUs);
}

TEST_CASE("a failed check stays the rank's failure, even if the rank then dies as declared") {
  const std::vector<wire::MayDie> may_die{{0, wire::DeathKind::Any, 0}};
  RankState rank;
  rank.record.errors.push_back(samples::error_of("2 == 3", false));
  CHECK(outcome_at_end(rank, kSegv, may_die).kind == OutcomeKind::Failed);
  CHECK(outcome_at_end(rank, ExitStatus::of_code(10), may_die).kind == OutcomeKind::Failed);
}

TEST_CASE("a death is declared by its rank, kind and value") {
  using wire::DeathKind;
  using wire::MayDie;
  const Outcome killed{OutcomeKind::Signaled, SIGKILL, ""};
  const Outcome exited{OutcomeKind::Exited, 3, ""};
  CHECK_FALSE(is_declared({}, 2, killed));
  CHECK(is_declared({MayDie{2, DeathKind::Signal, SIGKILL}}, 2, killed));
  CHECK_FALSE(is_declared({MayDie{2, DeathKind::Signal, SIGKILL}}, 1, killed));
  CHECK_FALSE(is_declared({MayDie{2, DeathKind::Signal, SIGTERM}}, 2, killed));
  CHECK_FALSE(is_declared({MayDie{2, DeathKind::ExitCode, SIGKILL}}, 2, killed));
  CHECK(is_declared({MayDie{-1, DeathKind::ExitCode, 3}}, 7, exited));
  CHECK(is_declared({MayDie{-1, DeathKind::Any, 0}}, 7, exited));
  CHECK(is_declared({MayDie{1, DeathKind::Any, 0}, MayDie{2, DeathKind::Any, 0}}, 2, killed));
  // Only deaths can be declared.
  for (const OutcomeKind kind : {OutcomeKind::Failed, OutcomeKind::TimedOut, OutcomeKind::Lost, OutcomeKind::Passed}) {
    CHECK_FALSE(is_declared({MayDie{-1, DeathKind::Any, 0}}, 0, {kind, 0, ""}));
  }
}
