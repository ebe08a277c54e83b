#include <catch2/catch.hpp>

#include <distrun/common/base/rng.hpp>
#include <distrun/runner/record/judge.hpp>

#include "judge_oracle.hpp"
#include "samples.hpp"

using namespace distrun;
using namespace distrun::runner;
using samples::attempt_of;
using samples::kFinalKinds;

namespace {

constexpr int kCombinations = 8 * 8 * 8 * 8;

std::vector<OutcomeKind> combination(int number) {
  std::vector<OutcomeKind> kinds;
  for (int rank = 0; rank < 4; ++rank, number /= 8) kinds.push_back(kFinalKinds[static_cast<std::size_t>(number % 8)]);
  return kinds;
}

std::string show(const AttemptRecord& attempt) {
  std::string text;
  for (const RankRecord& rank : attempt.ranks) {
    text += std::string(text.empty() ? "" : ", ") + name_of(rank.outcome.kind) + " #" + std::to_string(rank.decided);
    if (rank.because_of >= 0) text += " because of " + std::to_string(rank.because_of);
    if (!rank.waiting_in.empty()) text += " waiting";
    if (rank.declared_death) text += " declared";
  }
  return text;
}

AttemptRecord concluded(AttemptRecord attempt) {
  conclude(attempt);
  return attempt;
}

// Returns an empty text if the judge and the oracle agree in everything. Without Catch macros, since it is called 10^5
// times.
std::string quarrel(const AttemptRecord& attempt) {
  const AttemptRecord judged = concluded(attempt);
  const Verdict wanted = oracle::verdict(attempt);
  std::string what;
  if (judged.verdict != wanted) {
    what = std::string("verdict ") + name_of(judged.verdict) + " instead of " + name_of(wanted);
  } else if (judged.message.empty() != (wanted == Verdict::Pass)) {
    what = "message '" + judged.message + "' for a " + name_of(wanted);
  } else if (std::string(oracle::rule_of(attempt).when) == "a first cause") {
    if (judged.culprits != oracle::culprits(attempt)) what = "other culprits";
    if (judged.phase != oracle::causes(attempt).front().phase) what = "not the phase of the first cause";
  }
  return what.empty() ? "" : what + " by the rule '" + oracle::rule_of(attempt).when + "': " + show(attempt);
}

}  // namespace

TEST_CASE("every combination of four outcomes in every order gets the verdict of the rules") {
  for (int number = 0; number < kCombinations; ++number) {
    AttemptRecord attempt = attempt_of(combination(number));
    std::vector<int> order{1, 2, 3, 4};
    do {
      for (std::size_t i = 0; i < 4; ++i) attempt.ranks[i].decided = order[i];
      if (const std::string wrong = quarrel(attempt); !wrong.empty()) FAIL(wrong);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_CASE("leaks change the verdict of a passed attempt and of no other") {
  for (int number = 0; number < kCombinations; ++number) {
    AttemptRecord attempt = attempt_of(combination(number));
    const Verdict clean = judge(attempt).verdict;
    attempt.leaks.push_back({LeakKind::Process, "4711 (sleep 100)", true});
    const Verdict leaky = judge(attempt).verdict;
    if (leaky != (clean == Verdict::Pass ? Verdict::Leak : clean)) FAIL(show(attempt));
    if (const std::string wrong = quarrel(attempt); !wrong.empty()) FAIL(wrong);
  }
}

TEST_CASE("a stopped attempt is cancelled and a broken one an infra-error, with any outcomes of its ranks") {
  for (int number = 0; number < kCombinations; ++number) {
    AttemptRecord attempt = attempt_of(combination(number));
    attempt.infra_error = "cannot fork rank 3";
    if (judge(attempt).verdict != Verdict::InfraError) FAIL(show(attempt));
    if (concluded(attempt).message != "cannot fork rank 3") FAIL(show(attempt));
    attempt.cancelled = true;
    if (judge(attempt).verdict != Verdict::Cancelled) FAIL(show(attempt));
  }
}

TEST_CASE("outcomes that follow from another rank's never hide the first cause") {
  distrun::base::Rng rng(GENERATE(1U, 2U, 3U));
  for (int number = 0; number < kCombinations; ++number) {
    AttemptRecord attempt = attempt_of(combination(number));
    std::vector<int> order{1, 2, 3, 4};
    for (std::size_t i = 3; i > 0; --i) std::swap(order[i], order[rng.below(i + 1)]);
    for (std::size_t i = 0; i < 4; ++i) {
      attempt.ranks[i].decided = order[i];
      if (rng.below(2) == 0) attempt.ranks[i].because_of = static_cast<int>(rng.below(4));
    }
    if (const std::string wrong = quarrel(attempt); !wrong.empty()) FAIL(wrong);
  }
}

TEST_CASE("a death that an earlier failure may have caused is not blamed before it") {
  distrun::base::Rng rng(GENERATE(1U, 2U, 3U));
  for (int number = 0; number < kCombinations; ++number) {
    AttemptRecord attempt = attempt_of(combination(number));
    for (std::size_t i = 0; i < 4; ++i) {
      attempt.ranks[i].decided = static_cast<int>(i) + 1;
      attempt.ranks[i].outlived_failure = rng.below(2) == 0;
    }
    if (const std::string wrong = quarrel(attempt); !wrong.empty()) FAIL(wrong);
  }
  AttemptRecord attempt = attempt_of({OutcomeKind::Failed, OutcomeKind::Signaled});
  attempt.ranks[0].decided = 1;
  attempt.ranks[1].decided = 2;
  CHECK(judge(attempt).culprits == std::vector<int>{1});
  CHECK(judge(attempt).verdict == Verdict::Crash);
  attempt.ranks[1].outlived_failure = true;
  CHECK(judge(attempt).culprits == std::vector<int>{0});
  CHECK(judge(attempt).verdict == Verdict::Fail);
}

TEST_CASE("the message for ranks with the same outcome does not depend on their timing") {
  const OutcomeKind kind = GENERATE(OutcomeKind::Failed, OutcomeKind::Signaled, OutcomeKind::Exited);
  AttemptRecord attempt = attempt_of({kind, OutcomeKind::Passed, kind, kind});
  for (RankRecord& rank : attempt.ranks) {
    for (RankError& error : rank.errors) error = samples::error_of("token is lost");
  }
  std::vector<int> order{1, 2, 3, 4};
  const std::string message = concluded(attempt).message;
  do {
    for (std::size_t i = 0; i < 4; ++i) attempt.ranks[i].decided = order[i];
    const AttemptRecord judged = concluded(attempt);
    CHECK(judged.culprits == std::vector<int>{0, 2, 3});
    CHECK(judged.message == message);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("a failure after a declared death is the rank's own failure") {
  AttemptRecord attempt = attempt_of({OutcomeKind::Signaled, OutcomeKind::Failed});
  attempt.ranks[0].declared_death = true;
  attempt.ranks[1].because_of = 0;
  CHECK(judge(attempt).verdict == Verdict::Fail);
  CHECK(judge(attempt).culprits == std::vector<int>{1});
}

TEST_CASE("a declared death counts as passed in every combination") {
  for (int number = 0; number < kCombinations; ++number) {
    AttemptRecord attempt = attempt_of(combination(number));
    for (RankRecord& rank : attempt.ranks) {
      rank.declared_death = rank.outcome.kind == OutcomeKind::Exited || rank.outcome.kind == OutcomeKind::Signaled;
    }
    if (const std::string wrong = quarrel(attempt); !wrong.empty()) FAIL(wrong);
  }
  AttemptRecord all = attempt_of({OutcomeKind::Signaled, OutcomeKind::Exited, OutcomeKind::Passed});
  all.ranks[0].declared_death = all.ranks[1].declared_death = true;
  CHECK(judge(all).verdict == Verdict::Pass);
}

TEST_CASE("a rank that waited for a rank that timed out is not blamed, unless all waited") {
  for (int number = 0; number < kCombinations; ++number) {
    for (unsigned waiting = 0; waiting < 16; ++waiting) {
      AttemptRecord attempt = attempt_of(combination(number));
      for (std::size_t i = 0; i < 4; ++i) {
        if ((waiting >> i & 1U) != 0) attempt.ranks[i].waiting_in = "barrier \"x\"";
      }
      if (const std::string wrong = quarrel(attempt); !wrong.empty()) FAIL(wrong);
    }
  }
  AttemptRecord attempt = attempt_of({OutcomeKind::TimedOut, OutcomeKind::TimedOut, OutcomeKind::TimedOut});
  attempt.ranks[0].waiting_in = attempt.ranks[2].waiting_in = "barrier \"x\"";
  CHECK(judge(attempt).culprits == std::vector<int>{1});
  attempt.ranks[1].waiting_in = "barrier \"y\"";
  CHECK(judge(attempt).culprits == std::vector<int>{0, 1, 2});
}

TEST_CASE("a failure that follows from a rank that left early names that rank") {
  AttemptRecord attempt = attempt_of({OutcomeKind::Passed, OutcomeKind::Failed, OutcomeKind::Passed});
  attempt.ranks[1].because_of = 2;
  attempt.ranks[1].errors.front().text = "rank 2 finished without entering barrier \"x\"";
  const AttemptRecord judgement = concluded(attempt);
  CHECK(judgement.verdict == Verdict::Fail);
  CHECK(judgement.culprits == std::vector<int>{2});
  CHECK(judgement.message == "rank 2 finished without entering barrier \"x\"");
}

TEST_CASE("a failure with an invalid cause rank is that rank's own failure") {
  const int nobody = GENERATE(4, 1000, 2147483647);
  AttemptRecord attempt = attempt_of({OutcomeKind::Passed, OutcomeKind::Failed});
  attempt.ranks[1].because_of = nobody;
  CHECK(judge(attempt).verdict == Verdict::Fail);
  CHECK(judge(attempt).culprits == std::vector<int>{1});
}

TEST_CASE("ranks that skip for different reasons disagree") {
  AttemptRecord attempt = attempt_of({OutcomeKind::Skipped, OutcomeKind::Skipped});
  CHECK(judge(attempt).verdict == Verdict::Skip);
  CHECK(concluded(attempt).message == "no network");
  SECTION("by text") { attempt.ranks[1].outcome.text = "no disk"; }
  SECTION("by code") { attempt.ranks[1].outcome.value = 74; }
  CHECK(judge(attempt).verdict == Verdict::Fail);
  CHECK(concluded(attempt).message.rfind("outcomes disagree: rank 0 skipped (no network)", 0) == 0);
}

TEST_CASE("a rank without an outcome is an infra-error") {
  const OutcomeKind kind = GENERATE(OutcomeKind::Running, OutcomeKind::KilledByUs);
  const Judgement judgement = judge(attempt_of({OutcomeKind::Passed, kind}));
  CHECK(judgement.verdict == Verdict::InfraError);
  CHECK(judgement.culprits == std::vector<int>{1});
}

TEST_CASE("an infra-error is in the phase that the furthest rank had entered") {
  AttemptRecord attempt = attempt_of({OutcomeKind::Lost, OutcomeKind::KilledByUs});
  attempt.infra_error = "node02 was lost";
  attempt.ranks[0].phase = wire::Phase::Load;
  attempt.ranks[1].phase = wire::Phase::Body;
  CHECK(judge(attempt).phase == wire::Phase::Body);
  attempt.ranks.clear();
  CHECK(judge(attempt).phase == wire::Phase::Spawn);
}

TEST_CASE("an attempt without ranks is a skip, not a pass") {
  CHECK(judge(AttemptRecord{}).verdict == Verdict::Skip);
  CHECK_FALSE(concluded(AttemptRecord{}).message.empty());
}

TEST_CASE("a message is one line, with any texts of ranks") {
  const std::string nasty = "first\nsecond\r\n\x1b[31mred";
  for (const OutcomeKind kind : kFinalKinds) {
    for (const OutcomeKind other : {OutcomeKind::Passed, kind}) {
      AttemptRecord attempt = attempt_of({kind, other});
      for (RankRecord& rank : attempt.ranks) {
        rank.outcome.text = nasty;
        rank.waiting_in = "barrier \"" + nasty + "\"";
        for (RankError& error : rank.errors) error.text = error.file = nasty;
      }
      attempt.leaks.push_back({LeakKind::File, "/tmp/" + nasty, false});
      const std::string message = concluded(attempt).message;
      INFO(name_of(kind) << ": " << message);
      CHECK(message.find('\n') == std::string::npos);
      CHECK(message.find('\x1b') == std::string::npos);
    }
  }
  AttemptRecord broken;
  broken.infra_error = nasty;
  CHECK(concluded(broken).message.find('\n') == std::string::npos);
}
