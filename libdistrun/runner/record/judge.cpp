#include <distrun/runner/record/judge.hpp>

#include <algorithm>
#include <utility>

#include <distrun/runner/record/at_once.hpp>
#include <distrun/runner/record/describe.hpp>
#include <distrun/runner/record/standstill.hpp>

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

bool has_late_ranks(const AttemptRecord& attempt) {
  return std::any_of(attempt.ranks.begin(), attempt.ranks.end(),
                     [](const RankRecord& rank) { return class_of(rank) == Class::Timeout; });
}

bool contains(const std::vector<int>& ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

// A rank that timed out while waiting for others is not to blame if another timed-out rank is a cause. A rank with
// another outcome is not to blame if it waited at all while that cause did not.
bool is_victim(const AttemptRecord& attempt, const Standstill& still, const RankRecord& rank) {
  const bool is_late = class_of(rank) == Class::Timeout;
  if (is_late ? contains(still.causes, rank.rank) : rank.waiting_in.empty()) return false;
  return std::any_of(attempt.ranks.begin(), attempt.ranks.end(), [&](const RankRecord& other) {
    const bool is_late_cause = class_of(other) == Class::Timeout && contains(still.causes, other.rank);
    return is_late_cause && (is_late || other.waiting_in.empty());
  });
}

// A declared death is no cause of another rank's failure.
bool names_cause(const AttemptRecord& attempt, const RankRecord& rank) {
  if (!has_rank(attempt, rank.because_of)) return rank.because_of >= 0;
  return !attempt.ranks[static_cast<std::size_t>(rank.because_of)].declared_death;
}

// Returns whether the outcome is bad and follows from no other rank's.
bool is_independent(const AttemptRecord& attempt, const Standstill& still, const RankRecord& rank) {
  return is_bad(rank) && !names_cause(attempt, rank) && !is_victim(attempt, still, rank);
}

// Returns whether both had the same error at the same place, or the same death. Failed programs differ: their exit
// codes say little, so the first one counts.
bool did_the_same(const RankRecord& a, const RankRecord& b) {
  if (a.outcome.kind != b.outcome.kind || a.outcome.kind == OutcomeKind::TimedOut) return false;
  if (a.outcome.kind != OutcomeKind::Failed) return a.outcome == b.outcome;
  const RankError* const error_a = decisive_error(a);
  const RankError* const error_b = decisive_error(b);
  if (error_a == nullptr || error_b == nullptr || error_a->type != error_b->type) return false;
  const bool is_same_place = error_a->file == error_b->file && error_a->line == error_b->line;
  return is_same_place && (!error_a->file.empty() || error_a->text == error_b->text);
}

// News of several hosts may arrive in another order than they happened in.
template <class Matches>
const RankRecord* earlier_elsewhere(const AttemptRecord& attempt, const RankRecord& first, Matches matches) {
  const RankRecord* found = &first;
  for (const RankRecord& rank : attempt.ranks) {
    if (matches(rank) && is_surely_before(rank, *found)) found = &rank;
  }
  return found;
}

// A death that distrun did not cause takes precedence over earlier outcomes. Among ranks that did the same, the lowest
// represents all, so that the message does not depend on timing.
const RankRecord* first_cause(const AttemptRecord& attempt, const Standstill& still) {
  const auto is_cause = [&](const RankRecord& rank) { return is_independent(attempt, still, rank); };
  const RankRecord* first = earliest(attempt, [&](const RankRecord& rank) {
    return is_cause(rank) && class_of(rank) == Class::Crash && !rank.outlived_failure;
  });
  if (first == nullptr) first = earliest(attempt, is_cause);
  if (first == nullptr) return nullptr;
  const auto is_alike = [&](const RankRecord& rank) { return is_cause(rank) && class_of(rank) == class_of(*first); };
  first = earlier_elsewhere(attempt, *first, is_alike);
  const auto lowest = std::find_if(attempt.ranks.begin(), attempt.ranks.end(), [&](const RankRecord& rank) {
    return &rank == first || (is_alike(rank) && (did_the_same(rank, *first) || is_at_once(rank, *first)));
  });
  return &*lowest;
}

// No rank that timed out is to blame, but ranks that still had time or had finished.
CauseKind kind_of_awaited(const AttemptRecord& attempt, const std::vector<int>& ranks) {
  const bool all_done = std::all_of(ranks.begin(), ranks.end(), [&](int rank) {
    const Class c = class_of(attempt.ranks[static_cast<std::size_t>(rank)]);
    return c == Class::Good || c == Class::Skip;
  });
  return all_done ? CauseKind::LeftEarly : CauseKind::Awaited;
}

std::vector<int> circle_with(const Standstill& still, int rank) {
  for (const Circle& circle : still.circles) {
    if (contains(circle.ranks, rank)) return circle.ranks;
  }
  return {};
}

Judgement judge_cause(const AttemptRecord& attempt, const Standstill& still, const RankRecord& cause) {
  Judgement judgement;
  const Class c = class_of(cause);
  judgement.verdict = verdict_of(c);
  judgement.phase = cause.phase;
  judgement.cause = {CauseKind::Action, cause.rank};
  if (c == Class::Timeout && !still.causes.empty() && !contains(still.causes, cause.rank)) {
    judgement.cause.kind = kind_of_awaited(attempt, still.causes);
    judgement.culprits = still.causes;
    return judgement;
  }
  const std::vector<int> circle = c == Class::Timeout ? circle_with(still, cause.rank) : std::vector<int>{};
  judgement.culprits.push_back(cause.rank);
  for (const RankRecord& rank : attempt.ranks) {
    if (rank.rank == cause.rank) continue;
    const bool is_alike = (class_of(rank) == c || is_at_once(rank, cause)) && is_independent(attempt, still, rank);
    if (is_alike || contains(circle, rank.rank)) judgement.culprits.push_back(rank.rank);
  }
  return judgement;
}

// Whatever the ranks did when they were ended follows from the deadlock.
Judgement judge_deadlock(const AttemptRecord& attempt, const HangCause& proven) {
  Judgement judgement{Verdict::Deadlock, proven.ranks, wire::Phase::Body, {CauseKind::Deadlock}};
  if (proven.ranks.empty() || !has_rank(attempt, proven.ranks.front())) return judgement;
  judgement.cause.rank = proven.ranks.front();
  judgement.phase = attempt.ranks[static_cast<std::size_t>(proven.ranks.front())].phase;
  return judgement;
}

// Returns the lowest of the ranks that ended like the first one, for the same reason.
const RankRecord* first_follower(const AttemptRecord& attempt) {
  const RankRecord* const first = earliest(attempt, is_bad);
  if (first == nullptr || first->outcome.kind == OutcomeKind::TimedOut) return first;
  const auto lowest = std::find_if(attempt.ranks.begin(), attempt.ranks.end(), [&](const RankRecord& rank) {
    return is_bad(rank) && rank.outcome.kind == first->outcome.kind && rank.because_of == first->because_of;
  });
  return &*lowest;
}

// Every bad outcome follows from a rank that did nothing bad, but left early by passing or skipping.
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

// Called if no rank is bad: the verdict depends on their agreement.
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

// No rank is to blame for an infra-error: it came while the ranks had come that far.
wire::Phase furthest_phase(const AttemptRecord& attempt) {
  wire::Phase furthest = wire::Phase::Spawn;
  for (const RankRecord& rank : attempt.ranks) furthest = std::max(furthest, rank.phase);
  return furthest;
}

// Where ranks do not call the same, all wait for each other, but only the odd ones are to blame.
void blame_odd_ranks(AttemptRecord& attempt) {
  const bool is_odd = !attempt.hang.empty() && attempt.hang.front().kind == HangKind::MismatchedCollective;
  if (is_odd && !attempt.hang.front().ranks.empty()) attempt.culprits = attempt.hang.front().ranks;
}

}  // namespace

Judgement judge(const AttemptRecord& attempt) {
  if (attempt.cancelled) return {Verdict::Cancelled, {}, wire::Phase::Exit, {CauseKind::Stopped}};
  if (!attempt.infra_error.empty()) return {Verdict::InfraError, {}, furthest_phase(attempt), {CauseKind::Infra}};
  if (!attempt.lost_host.empty()) return {Verdict::Crash, {}, wire::Phase::Body, {CauseKind::Host}};
  if (attempt.ranks.empty()) return {Verdict::Skip, {}, wire::Phase::Spawn, {CauseKind::NoRanks}};
  if (!attempt.hang.empty() && attempt.hang.front().is_deadlock()) return judge_deadlock(attempt, attempt.hang.front());
  const Standstill still = has_late_ranks(attempt) ? standstill_of(attempt) : Standstill{};
  if (const RankRecord* cause = first_cause(attempt, still)) return judge_cause(attempt, still, *cause);
  if (const RankRecord* follower = first_follower(attempt)) return judge_early_leaver(attempt, *follower);
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
  if (attempt.verdict == Verdict::Timeout) attempt.hang = hang_causes_of(attempt);
  blame_odd_ranks(attempt);
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
