#include <distrun/runner/judge.hpp>

#include <algorithm>

#include <distrun/runner/describe.hpp>

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

bool is_independent_cause(const AttemptRecord& attempt, const RankRecord& rank, Class c) {
  if (class_of(rank) != c || rank.because_of >= 0) return false;
  return c != Class::Timeout || !waited_for_others(attempt, rank);
}

Judgement judge_cause(const AttemptRecord& attempt, const RankRecord& cause) {
  Judgement judgement;
  const Class c = class_of(cause);
  judgement.verdict = verdict_of(c);
  judgement.phase = cause.phase;
  judgement.culprits.push_back(cause.rank);
  for (const RankRecord& rank : attempt.ranks) {
    if (rank.rank != cause.rank && is_independent_cause(attempt, rank, c)) judgement.culprits.push_back(rank.rank);
  }
  judgement.message = describe_cause(attempt, judgement.culprits);
  return judgement;
}

// Every bad outcome follows from a rank that itself did nothing bad: it left early, by passing or by skipping.
Judgement judge_early_leaver(const AttemptRecord& attempt, const RankRecord& follower) {
  Judgement judgement;
  judgement.verdict = verdict_of(class_of(follower));
  judgement.phase = follower.phase;
  judgement.culprits = {has_rank(attempt, follower.because_of) ? follower.because_of : follower.rank};
  judgement.message = describe_early_leaver(attempt, follower);
  return judgement;
}

bool same_skip(const RankRecord& a, const RankRecord& b) {
  return a.outcome.value == b.outcome.value && a.outcome.text == b.outcome.text;
}

// No rank is bad: agreement decides.
Judgement judge_agreement(const AttemptRecord& attempt) {
  Judgement judgement;
  const RankRecord* skipped = earliest(attempt, [](const RankRecord& r) { return class_of(r) == Class::Skip; });
  if (skipped != nullptr) {
    for (const RankRecord& rank : attempt.ranks) {
      if (class_of(rank) == Class::Skip && same_skip(rank, *skipped)) continue;
      return {Verdict::Fail, {skipped->rank}, skipped->phase, describe_disagreement(attempt, *skipped)};
    }
    return {Verdict::Skip, {}, skipped->phase, skipped->outcome.text};
  }
  if (!attempt.leaks.empty()) {
    judgement.verdict = Verdict::Leak;
    judgement.message = describe_leaks(attempt.leaks);
  }
  return judgement;
}

}  // namespace

Judgement judge(const AttemptRecord& attempt) {
  if (attempt.cancelled) return {Verdict::Cancelled, {}, wire::Phase::Exit, "the run was stopped"};
  if (!attempt.infra_error.empty()) return {Verdict::InfraError, {}, wire::Phase::Spawn, attempt.infra_error};
  const RankRecord* cause = earliest(attempt, [&](const RankRecord& r) {
    return is_bad(r) && r.because_of < 0 && !waited_for_others(attempt, r);
  });
  if (cause != nullptr) return judge_cause(attempt, *cause);
  if (const RankRecord* follower = earliest(attempt, is_bad)) return judge_early_leaver(attempt, *follower);
  const RankRecord* stray = earliest(attempt, [](const RankRecord& r) {
    return class_of(r) == Class::Ended || class_of(r) == Class::Unknown;
  });
  if (stray != nullptr) {
    return {Verdict::InfraError, {stray->rank}, stray->phase,
            "rank " + std::to_string(stray->rank) + " was ended without a recorded cause"};
  }
  return judge_agreement(attempt);
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
