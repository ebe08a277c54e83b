#include <distrun/runner/record/judge.hpp>

#include <algorithm>
#include <utility>

#include <distrun/runner/record/describe.hpp>

namespace distrun::runner {
namespace {

enum class Class { Good, Skip, Fail, Crash, Timeout, Ended, Unknown };

Class class_of(const RankRecord& rank) {
  if (rank.declared_death) return Class::Good;
  switch (rank.outcome.kind) {
    case OutcomeKind::Passed: return Class::Good;
    case OutcomeKind::Skipped: return Class::Skip;
    case OutcomeKind::Failed: return Class::Fail;
    case OutcomeKind::Exited:
    case OutcomeKind::Signaled:
    case OutcomeKind::Lost: return Class::Crash;
    case OutcomeKind::TimedOut: return Class::Timeout;
    case OutcomeKind::KilledByUs: return Class::Ended;
    case OutcomeKind::Running: return Class::Unknown;
  }
  return Class::Unknown;
}

bool is_bad(const RankRecord& rank) {
  const Class c = class_of(rank);
  return c == Class::Fail || c == Class::Crash || c == Class::Timeout;
}

Verdict verdict_of(Class c) {
  switch (c) {
    case Class::Fail: return Verdict::Fail;
    case Class::Crash: return Verdict::Crash;
    case Class::Timeout: return Verdict::Timeout;
    default: return Verdict::InfraError;
  }
}

template <class Matches>
const RankRecord* earliest(const AttemptRecord& attempt, Matches matches) {
  const RankRecord* found = nullptr;
  for (const RankRecord& rank : attempt.ranks) {
    if (!matches(rank)) continue;
    if (found == nullptr || rank.decided < found->decided) found = &rank;
  }
  return found;
}

bool has_rank(const AttemptRecord& attempt, int rank) {
  return rank >= 0 && rank < static_cast<int>(attempt.ranks.size());
}

// Ranks that waited for others when the time ran out are not to blame if somebody did not wait.
bool waited_for_others(const AttemptRecord& attempt, const RankRecord& rank) {
  if (rank.waiting_in.empty()) return false;
  return std::any_of(attempt.ranks.begin(), attempt.ranks.end(), [](const RankRecord& other) {
    return class_of(other) == Class::Timeout && other.waiting_in.empty();
  });
}

// A bad outcome that follows from no other rank's.
bool is_independent(const AttemptRecord& attempt, const RankRecord& rank) {
  return is_bad(rank) && rank.because_of < 0 && !waited_for_others(attempt, rank);
}

// Ranks for which a rank waited until its time ran out, while their own bounds had not.
std::vector<int> ranks_waited_for(const AttemptRecord& attempt, const RankRecord& cause) {
  std::vector<int> ranks;
  if (class_of(cause) != Class::Timeout || cause.waiting_in.empty()) return ranks;
  for (const RankRecord& rank : attempt.ranks) {
    if (class_of(rank) == Class::Ended && rank.waiting_in.empty()) ranks.push_back(rank.rank);
  }
  return ranks;
}

Judgement judge_cause(const AttemptRecord& attempt, const RankRecord& cause) {
  Judgement judgement;
  const Class c = class_of(cause);
  judgement.verdict = verdict_of(c);
  judgement.phase = cause.phase;
  judgement.cause = {CauseKind::Awaited, cause.rank};
  judgement.culprits = ranks_waited_for(attempt, cause);
  if (!judgement.culprits.empty()) return judgement;
  judgement.cause.kind = CauseKind::Deed;
  judgement.culprits.push_back(cause.rank);
  for (const RankRecord& rank : attempt.ranks) {
    if (rank.rank == cause.rank || class_of(rank) != c) continue;
    if (is_independent(attempt, rank)) judgement.culprits.push_back(rank.rank);
  }
  return judgement;
}

// Every bad outcome follows from a rank that itself did nothing bad: it left early, by passing or by skipping.
Judgement judge_early_leaver(const AttemptRecord& attempt, const RankRecord& follower) {
  Judgement judgement;
  judgement.verdict = verdict_of(class_of(follower));
  judgement.phase = follower.phase;
  judgement.cause = {CauseKind::LeftEarly, follower.rank};
  judgement.culprits = {has_rank(attempt, follower.because_of) ? follower.because_of : follower.rank};
  return judgement;
}

bool same_skip(const RankRecord& a, const RankRecord& b) {
  return a.outcome.value == b.outcome.value && a.outcome.text == b.outcome.text;
}

// No rank is bad: agreement decides.
Judgement judge_agreement(const AttemptRecord& attempt) {
  const RankRecord* skipped = earliest(attempt, [](const RankRecord& r) { return class_of(r) == Class::Skip; });
  if (skipped != nullptr) {
    for (const RankRecord& rank : attempt.ranks) {
      if (class_of(rank) == Class::Skip && same_skip(rank, *skipped)) continue;
      return {Verdict::Fail, {skipped->rank}, skipped->phase, {CauseKind::Disagreement, skipped->rank}};
    }
    return {Verdict::Skip, {}, skipped->phase, {CauseKind::Skipped, skipped->rank}};
  }
  if (!attempt.leaks.empty()) return {Verdict::Leak, {}, wire::Phase::Exit, {CauseKind::LeftBehind}};
  return {};
}

}  // namespace

Judgement judge(const AttemptRecord& attempt) {
  if (attempt.cancelled) return {Verdict::Cancelled, {}, wire::Phase::Exit, {CauseKind::Stopped}};
  if (!attempt.infra_error.empty()) return {Verdict::InfraError, {}, wire::Phase::Spawn, {CauseKind::Infra}};
  if (!attempt.lost_host.empty()) return {Verdict::Crash, {}, wire::Phase::Body, {CauseKind::Host}};
  if (attempt.ranks.empty()) return {Verdict::Skip, {}, wire::Phase::Spawn, {CauseKind::NoRanks}};
  const RankRecord* cause = earliest(attempt, [&](const RankRecord& r) { return is_independent(attempt, r); });
  if (cause != nullptr) return judge_cause(attempt, *cause);
  if (const RankRecord* follower = earliest(attempt, is_bad)) return judge_early_leaver(attempt, *follower);
  const RankRecord* stray = earliest(
      attempt, [](const RankRecord& r) { return class_of(r) == Class::Ended || class_of(r) == Class::Unknown; });
  if (stray == nullptr) return judge_agreement(attempt);
  return {Verdict::InfraError, {stray->rank}, stray->phase, {CauseKind::Unknown, stray->rank}};
}

void conclude(AttemptRecord& attempt) {
  Judgement judgement = judge(attempt);
  attempt.verdict = judgement.verdict;
  attempt.culprits = std::move(judgement.culprits);
  attempt.phase = judgement.phase;
  attempt.cause = judgement.cause;
  attempt.message = describe_cause(attempt);
}

Verdict judge_test(const std::vector<AttemptRecord>& attempts) {
  bool retried = false;
  bool all_skipped = true;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const bool has_retry = i + 1 < attempts.size() && attempts[i + 1].kind == AttemptKind::Retry;
    retried = retried || has_retry;
    if (has_retry) continue;
    if (!is_good(attempts[i].verdict)) return attempts[i].verdict;
    all_skipped = all_skipped && attempts[i].verdict == Verdict::Skip;
  }
  if (all_skipped) return Verdict::Skip;
  return retried ? Verdict::Flaky : Verdict::Pass;
}

}  // namespace distrun::runner
