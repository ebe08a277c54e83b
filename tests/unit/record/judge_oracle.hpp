#pragma once
// The judge's rules again, as tables and derived only from the design: the verdict that follows from an outcome alone,
// and the order of statements about all ranks. Deliberately simple and slow.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <distrun/runner/record/judge.hpp>

namespace distrun::runner::oracle {

struct Blame {
  OutcomeKind kind;
  std::optional<Verdict> verdict;  // empty: not blamed
};

inline constexpr Blame kBlames[] = {
    {OutcomeKind::Passed, std::nullopt},     {OutcomeKind::Skipped, std::nullopt},
    {OutcomeKind::KilledByUs, std::nullopt}, {OutcomeKind::Running, std::nullopt},
    {OutcomeKind::Failed, Verdict::Fail},    {OutcomeKind::TimedOut, Verdict::Timeout},
    {OutcomeKind::Exited, Verdict::Crash},   {OutcomeKind::Signaled, Verdict::Crash},
    {OutcomeKind::Lost, Verdict::Crash},
};

inline std::optional<Verdict> blame_of(const RankRecord& rank) {
  if (rank.declared_death) return std::nullopt;
  for (const Blame& blame : kBlames) {
    if (blame.kind == rank.outcome.kind) return blame.verdict;
  }
  return std::nullopt;
}

// Returns the ranks in the order in which their outcomes became known.
inline std::vector<RankRecord> in_order(const AttemptRecord& attempt) {
  std::vector<RankRecord> ranks = attempt.ranks;
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const RankRecord& a, const RankRecord& b) { return a.decided < b.decided; });
  return ranks;
}

inline bool passed(const RankRecord& rank) { return rank.declared_death || rank.outcome.kind == OutcomeKind::Passed; }
inline bool skipped(const RankRecord& rank) {
  return !rank.declared_death && rank.outcome.kind == OutcomeKind::Skipped;
}

// A rank that waits when it times out waits for another rank; if that rank has timed out too, that one is to blame.
inline bool is_victim_of_a_slow_rank(const AttemptRecord& attempt, const RankRecord& rank) {
  const auto slow = [](const RankRecord& other) {
    return blame_of(other) == Verdict::Timeout && other.waiting_in.empty();
  };
  return !rank.waiting_in.empty() && std::any_of(attempt.ranks.begin(), attempt.ranks.end(), slow);
}

// A declared death is no excuse.
inline bool has_excuse(const AttemptRecord& attempt, const RankRecord& rank) {
  const auto is_it = [&](const RankRecord& other) { return other.rank == rank.because_of && other.declared_death; };
  return rank.because_of >= 0 && std::none_of(attempt.ranks.begin(), attempt.ranks.end(), is_it);
}

// In the samples, failing ranks differ only in the texts of their errors.
inline bool is_alike(const RankRecord& a, const RankRecord& b) {
  if (a.outcome.kind != b.outcome.kind || a.outcome.kind == OutcomeKind::TimedOut) return false;
  return a.outcome.kind != OutcomeKind::Failed || a.errors.front().text == b.errors.front().text;
}

// Returns bad outcomes that follow from no other rank's: first deaths not prompted by a failure, then the others, each
// in the order in which they became known. The lowest rank with the same outcome as the first is moved to the front.
inline std::vector<RankRecord> causes(const AttemptRecord& attempt) {
  std::vector<RankRecord> found;
  for (const RankRecord& rank : in_order(attempt)) {
    const bool follows = has_excuse(attempt, rank) || is_victim_of_a_slow_rank(attempt, rank);
    if (blame_of(rank) && !follows) found.push_back(rank);
  }
  const auto is_late = [](const RankRecord& rank) { return blame_of(rank) != Verdict::Crash || rank.outlived_failure; };
  std::stable_sort(found.begin(), found.end(),
                   [&](const RankRecord& a, const RankRecord& b) { return is_late(a) < is_late(b); });
  if (found.empty()) return found;
  auto lowest = found.begin();
  for (auto each = found.begin(); each != found.end(); ++each) {
    if (is_alike(*each, found.front()) && each->rank < lowest->rank) lowest = each;
  }
  std::rotate(found.begin(), lowest, lowest + 1);
  return found;
}

inline std::vector<RankRecord> bad(const AttemptRecord& attempt) {
  std::vector<RankRecord> found;
  for (const RankRecord& rank : in_order(attempt)) {
    if (blame_of(rank)) found.push_back(rank);
  }
  return found;
}

inline bool one_skip_reason(const AttemptRecord& attempt) {
  const auto& first = attempt.ranks.front().outcome;
  return std::all_of(attempt.ranks.begin(), attempt.ranks.end(),
                     [&](const RankRecord& rank) { return skipped(rank) && rank.outcome == first; });
}

struct Rule {
  const char* when;
  bool (*holds)(const AttemptRecord&);
  Verdict (*verdict)(const AttemptRecord&);
};

template <Verdict V>
Verdict always(const AttemptRecord&) {
  return V;
}

// The first rule that holds gives the verdict.
inline const Rule kRules[] = {
    {"stopped by the user", [](const AttemptRecord& a) { return a.cancelled; }, always<Verdict::Cancelled>},
    {"distrun failed", [](const AttemptRecord& a) { return !a.infra_error.empty(); }, always<Verdict::InfraError>},
    {"no ranks to run", [](const AttemptRecord& a) { return a.ranks.empty(); }, always<Verdict::Skip>},
    {"a first cause", [](const AttemptRecord& a) { return !causes(a).empty(); },
     [](const AttemptRecord& a) { return *blame_of(causes(a).front()); }},
    {"followers only", [](const AttemptRecord& a) { return !bad(a).empty(); },
     [](const AttemptRecord& a) { return *blame_of(bad(a).front()); }},
    {"a rank without an outcome of its own",
     [](const AttemptRecord& a) {
       return std::any_of(a.ranks.begin(), a.ranks.end(),
                          [](const RankRecord& r) { return !passed(r) && !skipped(r) && !blame_of(r); });
     },
     always<Verdict::InfraError>},
    {"all skipped alike", one_skip_reason, always<Verdict::Skip>},
    {"some skipped", [](const AttemptRecord& a) { return std::any_of(a.ranks.begin(), a.ranks.end(), skipped); },
     always<Verdict::Fail>},
    {"something left", [](const AttemptRecord& a) { return !a.leaks.empty(); }, always<Verdict::Leak>},
    {"all passed", [](const AttemptRecord&) { return true; }, always<Verdict::Pass>},
};

inline const Rule& rule_of(const AttemptRecord& attempt) {
  return *std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& rule) { return rule.holds(attempt); });
}

inline Verdict verdict(const AttemptRecord& attempt) { return rule_of(attempt).verdict(attempt); }

// Returns the culprits where there is a first cause: that rank, then by number all with the same outcome. A rank that
// timed out in a barrier waited for others: if some of those still had time, they are the culprits instead.
inline std::vector<int> culprits(const AttemptRecord& attempt) {
  const std::vector<RankRecord> all = causes(attempt);
  std::vector<int> awaited;
  for (const RankRecord& rank : attempt.ranks) {
    if (rank.outcome.kind == OutcomeKind::KilledByUs && rank.waiting_in.empty()) awaited.push_back(rank.rank);
  }
  const bool waited = blame_of(all.front()) == Verdict::Timeout && !all.front().waiting_in.empty();
  if (waited && !awaited.empty()) return awaited;
  std::vector<int> named{all.front().rank};
  for (const RankRecord& rank : attempt.ranks) {
    const auto is_it = [&](const RankRecord& cause) { return cause.rank == rank.rank; };
    if (rank.rank == named.front() || blame_of(rank) != blame_of(all.front())) continue;
    if (std::any_of(all.begin(), all.end(), is_it)) named.push_back(rank.rank);
  }
  return named;
}

}  // namespace distrun::runner::oracle
