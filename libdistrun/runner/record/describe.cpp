#include <distrun/runner/record/describe.hpp>

#include <algorithm>

#include <distrun/common/base/rank_hosts.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/common/wire/skip_table.hpp>
#include <distrun/runner/record/at_once.hpp>
#include <distrun/runner/record/doctor/cause_text.hpp>
#include <distrun/runner/record/snapshot.hpp>
#include <distrun/runner/record/standstill.hpp>

namespace distrun::runner {
namespace {

// Returns "rank 5", or "rank 5 on node02".
std::string name_of_rank(const AttemptRecord& attempt, int rank) { return hosts_of(attempt).label(rank); }

std::string place(const RankError& error) {
  return error.file.empty() ? "" : " (" + error.file + ":" + std::to_string(error.line) + ")";
}

// Returns the report of the sanitizer that ended the rank; null if none did.
const RankError* sanitizer_error(const RankRecord& rank) {
  for (const RankError& error : rank.errors) {
    if (error.is_crash && error.type.ends_with("Sanitizer")) return &error;
  }
  return nullptr;
}

std::string after_colon(const std::string& text) { return text.empty() ? "" : ": " + text; }

std::string short_outcome(const RankRecord& rank) {
  if (rank.outcome.kind == OutcomeKind::Skipped) return "skipped (" + rank.outcome.text + ")";
  return describe(rank.outcome);
}

constexpr std::size_t kStandingsMax = 8;  // shown of each kind

std::string and_more(std::size_t count) {
  return count > kStandingsMax ? ", and " + std::to_string(count - kStandingsMax) + " more" : "";
}

// Describes what the culprits did or waited in, each thing once, such as different barriers.
std::string describe_doing(const Standstill& still, std::size_t culprits) {
  if (still.doing.empty()) return "";
  const Standing& first = still.doing.front();
  if (culprits == 1) return ", " + first.what;
  if (first.ranks.size() == culprits) return ", all " + first.what;
  std::string text;
  for (std::size_t i = 0; i < still.doing.size() && i < kStandingsMax; ++i) {
    text += (i == 0 ? ": " : ", ") + still.hosts.label(still.doing[i].ranks) + " " + still.doing[i].what;
  }
  return text + and_more(still.doing.size());
}

// Names the awaited ranks, unless they are the causes.
std::string for_whom(const Standstill& still, const Standing& waiting) {
  if (waiting.awaited == waiting.ranks) return " for itself";
  const bool goes_without_saying = waiting.awaited.empty() || waiting.awaited == still.causes;
  return goes_without_saying ? "" : " for " + still.hosts.label(waiting.awaited);
}

// Describes ranks that waited at the timeout: "; ranks 0, 2 waited in barrier "x", rank 3 for rank 2 in barrier "y"".
std::string describe_waiting(const Standstill& still, const Standing* but = nullptr) {
  std::string text;
  std::size_t count = 0;
  for (const Standing& each : still.waiting) {
    if (&each == but || ++count > kStandingsMax) continue;
    text += text.empty() ? "; " + still.hosts.label(each.ranks) + " waited" : ", " + still.hosts.label(each.ranks);
    text += for_whom(still, each) + " in " + each.what;
  }
  return text + and_more(count);
}

// Returns "ranks 0-2 wait for each other: ranks 0-1 for rank 2 in barrier "x", rank 2 for rank 0 in receive "y"". If
// all wait in the same thing, it is named once.
std::string describe_circle(const Circle& circle, const base::RankHosts& hosts) {
  const std::vector<Standing>& waits = circle.waits;
  std::string text = hosts.label(circle.ranks) + " wait for each other";
  const bool is_same =
      std::all_of(waits.begin(), waits.end(), [&](const Standing& each) { return each.what == waits.front().what; });
  for (std::size_t i = 0; i < waits.size() && i < kStandingsMax; ++i) {
    text += (i == 0 ? ": " : ", ") + hosts.label(waits[i].ranks) + " for " + hosts.label(waits[i].awaited);
    if (!is_same) text += " in " + waits[i].what;
  }
  text += and_more(waits.size());
  return is_same ? text + ", in " + waits.front().what : text;
}

std::string describe_circles(const Standstill& still) {
  std::string text;
  for (const Circle& circle : still.circles) {
    text += (text.empty() ? "" : "; ") + describe_circle(circle, still.hosts);
  }
  return text + describe_waiting(still);
}

// Describes a rank that failed without reporting an error.
std::string describe_untold(int exit_code) {
  if (exit_code <= 0) return "";
  if (exit_code != wire::kTestErrorExitCode) return ": it exited with code " + std::to_string(exit_code);
  return ": it exited with code 10, which means a test error, but reported none (did the test close descriptor 3, its "
         "connection to distrun?)";
}

// Returns "so did " or "so were ".
std::string so_did(const RankRecord& cause, std::size_t others) {
  const bool passive = cause.outcome.kind == OutcomeKind::Signaled || cause.outcome.kind == OutcomeKind::Lost;
  return !passive ? "so did " : others == 1 ? "so was " : "so were ";
}

// Returns "; so did rank 5 on node02 at the same time (within 0.3 ms, the error of their clocks)", or what the others
// did if that is something else.
std::string describe_at_once(const AttemptRecord& attempt, const RankRecord& cause, const AtOnce& at_once) {
  const std::string when = "at the same time (within " + base::human(at_once.within) + ", the error of their clocks)";
  const base::RankHosts hosts = hosts_of(attempt);
  const auto action_of = [&attempt](int rank) {
    return describe_action(attempt.ranks[static_cast<std::size_t>(rank)]);
  };
  const bool all_alike = std::all_of(at_once.ranks.begin(), at_once.ranks.end(),
                                     [&](int rank) { return action_of(rank) == describe_action(cause); });
  if (all_alike) return "; " + so_did(cause, at_once.ranks.size()) + hosts.label(at_once.ranks) + " " + when;
  std::string text = "; " + when;
  for (std::size_t i = 0; i < at_once.ranks.size() && i < kStandingsMax; ++i) {
    text += (i == 0 ? " " : ", ") + hosts.label(at_once.ranks[i]) + action_of(at_once.ranks[i]);
  }
  return text + and_more(at_once.ranks.size());
}

// Used for programs, where it is unknown whether later exit codes follow from the first.
std::string describe_program_failure(const AttemptRecord& attempt, const std::vector<int>& culprits) {
  const RankRecord& cause = attempt.ranks[static_cast<std::size_t>(culprits.front())];
  const AtOnce at_once = at_once_with(attempt, cause, {culprits.begin() + 1, culprits.end()});
  std::vector<int> alike;
  std::vector<int> others;
  for (std::size_t i = 1; i < culprits.size(); ++i) {
    if (std::binary_search(at_once.ranks.begin(), at_once.ranks.end(), culprits[i])) continue;
    const RankRecord& other = attempt.ranks[static_cast<std::size_t>(culprits[i])];
    const bool same = other.outcome == cause.outcome && describe_action(other) == describe_action(cause);
    (same ? alike : others).push_back(culprits[i]);
  }
  const base::RankHosts hosts = hosts_of(attempt);
  std::string text = hosts.label(cause.rank) + describe_action(cause);
  if (!at_once.ranks.empty()) text += describe_at_once(attempt, cause, at_once);
  if (!alike.empty()) text += "; so did " + hosts.label(alike);
  if (!others.empty()) text += "; " + hosts.label(others) + " failed later";
  return text;
}

// Returns "rank 2 failed: token is lost (ring.cpp:41); so did rank 3". The first culprit is the cause.
std::string describe_culprits(const AttemptRecord& attempt) {
  const std::vector<int>& culprits = attempt.culprits;
  const RankRecord& cause = attempt.ranks[static_cast<std::size_t>(culprits.front())];
  if (cause.outcome.kind == OutcomeKind::Failed && !cause.outcome.text.empty()) {
    return describe_program_failure(attempt, culprits);
  }
  const bool is_late = cause.outcome.kind == OutcomeKind::TimedOut;
  const Standstill still = is_late ? standstill_of(attempt) : Standstill{};
  if (!still.circles.empty()) return describe_circles(still);
  const base::RankHosts hosts = hosts_of(attempt);
  std::string text = hosts.label(cause.rank) + describe_action(cause);
  std::vector<int> others(culprits.begin() + 1, culprits.end());
  const AtOnce at_once = at_once_with(attempt, cause, others);
  std::erase_if(others, [&](int rank) { return std::binary_search(at_once.ranks.begin(), at_once.ranks.end(), rank); });
  if (!at_once.ranks.empty()) text += describe_at_once(attempt, cause, at_once);
  if (!others.empty()) text += "; " + so_did(cause, others.size()) + hosts.label(others);
  return text + describe_doing(still, culprits.size()) + describe_waiting(still);
}

// Returns ranks that waited for one of the culprits; else `waiter` if it waited.
const Standing* waiter_of_culprit(const Standstill& still, const RankRecord& waiter) {
  const Standing* found = nullptr;
  for (const Standing& each : still.waiting) {
    const bool is_for_culprit = std::any_of(each.awaited.begin(), each.awaited.end(), [&](int rank) {
      return std::find(still.causes.begin(), still.causes.end(), rank) != still.causes.end();
    });
    if (is_for_culprit) return &each;
    if (std::find(each.ranks.begin(), each.ranks.end(), waiter.rank) != each.ranks.end()) found = &each;
  }
  return found;
}

// Returns "rank 0 timed out after 1.0 s in the test body, waiting in barrier "x" for rank 1 in set-up".
std::string describe_awaited(const AttemptRecord& attempt, const RankRecord& late) {
  const Standstill still = standstill_of(attempt);
  const Standing* const waiting = waiter_of_culprit(still, late);
  if (waiting == nullptr) return name_of_rank(attempt, late.rank) + describe_action(late);
  const RankRecord& first = attempt.ranks[static_cast<std::size_t>(attempt.culprits.front())];
  const bool is_done = first.outcome.kind == OutcomeKind::Passed || first.outcome.kind == OutcomeKind::Skipped;
  const base::RankHosts hosts = hosts_of(attempt);
  return hosts.label(waiting->ranks) + describe_action(late) + ", waiting in " + waiting->what + " for " +
         hosts.label(attempt.culprits) +
         (is_done ? std::string(", which had ") + name_of(first.outcome.kind)
                  : describe_phase(first) + describe_doing(still, attempt.culprits.size())) +
         describe_waiting(still, waiting);
}

// Returns "outcomes disagree: rank 1 skipped (no network), rank 0 passed".
std::string describe_disagreement(const AttemptRecord& attempt, const RankRecord& skipped) {
  std::string text = "outcomes disagree: " + name_of_rank(attempt, skipped.rank) + " " + short_outcome(skipped);
  for (const RankRecord& rank : attempt.ranks) {
    if (rank.outcome == skipped.outcome) continue;
    return text + ", " + name_of_rank(attempt, rank.rank) + " " + short_outcome(rank);
  }
  return text;
}

// Returns "rank 1 finished without entering barrier "x"; ranks 0, 2-3 waited there".
std::string describe_early_leaver(const AttemptRecord& attempt, const RankRecord& follower) {
  if (follower.outcome.kind == OutcomeKind::TimedOut && follower.because_of < 0) {
    return describe_awaited(attempt, follower);
  }
  const RankError* error = decisive_error(follower);
  const std::string why = error != nullptr ? base::one_line(error->text) : describe(follower.outcome);
  if (follower.because_of < 0 || follower.because_of >= static_cast<int>(attempt.ranks.size())) return why;
  const RankRecord& leaver = attempt.ranks[static_cast<std::size_t>(follower.because_of)];
  if (leaver.outcome.kind == OutcomeKind::Skipped) return describe_disagreement(attempt, leaver) + ": " + why;
  return why;
}

// Returns " (timed out after 2.0 s in the test body)", of a culprit if one was late; empty: none was.
std::string describe_bound(const AttemptRecord& attempt) {
  const RankRecord* late = nullptr;
  for (const RankRecord& rank : attempt.ranks) {
    if (rank.outcome.kind != OutcomeKind::TimedOut) continue;
    const bool is_culprit =
        std::find(attempt.culprits.begin(), attempt.culprits.end(), rank.rank) != attempt.culprits.end();
    if (late == nullptr || is_culprit) late = &rank;
    if (is_culprit) break;
  }
  return late == nullptr ? "" : " (" + describe_outcome(*late) + describe_phase(*late) + ")";
}

// Returns "missing rank (likely): rank 1 sleeps in nanosleep; ranks 0, 2-3 wait for it in barrier "x" (timed out after
// 2.0 s in the test body)".
std::string describe_hang(const AttemptRecord& attempt) {
  const std::vector<HangCause>& hang = attempt.hang;
  const auto is_known = [](const HangCause& cause) { return cause.kind != HangKind::Unknown; };
  const auto more = std::count_if(hang.begin() + 1, hang.end(), is_known);
  const std::string and_more = "; and " + std::to_string(more) + " more cause" + (more == 1 ? "" : "s");
  return verdict_text(hang.front()) + (more == 0 ? "" : and_more) + describe_bound(attempt);
}

std::string describe_any_cause(const AttemptRecord& attempt) {
  if (is_explained_hang(attempt)) return describe_hang(attempt);
  const Cause cause = attempt.cause;
  const RankRecord* rank = cause.rank >= 0 ? &attempt.ranks[static_cast<std::size_t>(cause.rank)] : nullptr;
  switch (cause.kind) {
    case CauseKind::None: return "";
    case CauseKind::Stopped: return "the run was cancelled" + after_colon(attempt.cancelled_because);
    case CauseKind::Infra: return attempt.infra_error;
    case CauseKind::Host: return "the suite's host " + attempt.lost_host;
    case CauseKind::NoRanks: return "the test has no ranks";
    case CauseKind::Action: return describe_culprits(attempt);
    case CauseKind::Awaited: return describe_awaited(attempt, *rank);
    case CauseKind::LeftEarly: return describe_early_leaver(attempt, *rank);
    case CauseKind::Deadlock: return "a deadlock was proven";
    case CauseKind::Unknown: return name_of_rank(attempt, cause.rank) + " was ended without a recorded cause";
    case CauseKind::Disagreement: return describe_disagreement(attempt, *rank);
    case CauseKind::Skipped: return rank->outcome.text;
    case CauseKind::LeftBehind: return describe_leaks(attempt.leaks);
  }
  return "";
}

// Describes the first unseen error at the timeout: a culprit's, else any rank's.
std::string describe_unseen_error(const AttemptRecord& attempt) {
  const auto timeout = std::find_if(attempt.snapshots.begin(), attempt.snapshots.end(), [](const Snapshot& snapshot) {
    return snapshot.kind == SnapshotKind::Timeout || snapshot.kind == SnapshotKind::Deadlock;
  });
  const bool has_hung = attempt.verdict == Verdict::Timeout || attempt.verdict == Verdict::Deadlock;
  if (!has_hung || timeout == attempt.snapshots.end()) return "";
  const std::vector<ErrorLine> errors = error_lines(timeout->ranks);
  if (errors.empty()) return "";
  const auto is_of_culprit = [&](const ErrorLine& line) {
    return std::find_first_of(line.ranks.begin(), line.ranks.end(), attempt.culprits.begin(), attempt.culprits.end()) !=
           line.ranks.end();
  };
  const auto of_culprit = std::find_if(errors.begin(), errors.end(), is_of_culprit);
  return "; " + describe(of_culprit != errors.end() ? *of_culprit : errors.front(), hosts_of(attempt));
}

constexpr std::size_t kMessageMax = 1000;

}  // namespace

bool is_explained_hang(const AttemptRecord& attempt) {
  return !attempt.hang.empty() && attempt.hang.front().kind != HangKind::Unknown;
}

const RankError* decisive_error(const RankRecord& rank) {
  for (const RankError& error : rank.errors) {
    if (error.ended_body) return &error;
  }
  return rank.errors.empty() ? nullptr : &rank.errors.front();
}

std::string describe_cause(const AttemptRecord& attempt) {
  return base::one_line(describe_any_cause(attempt) + describe_unseen_error(attempt),
                        kMessageMax);  // reasons and paths are untrusted text
}

bool is_one_action(const AttemptRecord& attempt) {
  if (attempt.cause.kind != CauseKind::Action || attempt.culprits.size() != 1) return false;
  const auto is_it = [&](const RankRecord& rank) { return rank.rank == attempt.culprits.front(); };
  const auto culprit = std::find_if(attempt.ranks.begin(), attempt.ranks.end(), is_it);
  if (culprit == attempt.ranks.end()) return false;
  if (culprit->outcome.kind == OutcomeKind::TimedOut) {
    return attempt.message ==
           base::one_line(name_of_rank(attempt, culprit->rank) + describe_action(*culprit), kMessageMax);
  }
  if (culprit->outcome.kind != OutcomeKind::Failed) return true;
  if (culprit->errors.empty()) return !culprit->outcome.text.empty();
  return decisive_error(*culprit) == &culprit->errors.front();
}

std::string describe_outcome(const RankRecord& rank) {
  const Outcome& outcome = rank.outcome;
  if (outcome.kind == OutcomeKind::TimedOut && !outcome.text.empty()) return "timed out after " + outcome.text;
  // The rank had reported its result by then.
  const bool is_late = outcome.kind == OutcomeKind::Exited && rank.phase == wire::Phase::Exit;
  return is_late ? "exited with code " + std::to_string(outcome.value) : describe(outcome);
}

std::string in_phase(wire::Phase phase) {
  return phase == wire::Phase::Body ? "in the test body" : std::string("in ") + wire::name_of(phase);
}

std::string describe_phase(const RankRecord& rank) {
  const bool after_all = rank.phase == wire::Phase::Exit && rank.body_passed;
  return " " + in_phase(rank.phase) + (after_all ? ", after its body had passed" : "");
}

std::string describe_action(const RankRecord& rank) {
  const OutcomeKind kind = rank.outcome.kind;
  const bool has_ended = kind == OutcomeKind::Signaled || kind == OutcomeKind::Exited;
  if (has_ended && sanitizer_error(rank) != nullptr) {
    // The exit code or signal is only the sanitizer's way to end the rank.
    return " failed: " + crash_text(rank) + (kind == OutcomeKind::Signaled ? ", and was " : ", and ") +
           describe_outcome(rank) + describe_phase(rank);
  }
  switch (rank.outcome.kind) {
    case OutcomeKind::Failed:
      if (const RankError* error = decisive_error(rank)) {
        // The type of a program's exception may be all that there is; for a test the text is enough.
        const bool is_typed = !rank.outcome.text.empty() && !error->type.empty();
        const std::string text = is_typed ? error->type + after_colon(error->text) : error->text;
        return " failed: " + base::one_line(text) + place(*error);
      }
      if (!rank.outcome.text.empty()) return " " + rank.outcome.text;
      return " failed" + describe_untold(rank.exit_code) + describe_phase(rank);
    case OutcomeKind::Signaled:
      return " was " + describe_outcome(rank) + describe_phase(rank) + after_colon(crash_text(rank));
    case OutcomeKind::Lost: return " was " + describe_outcome(rank);
    case OutcomeKind::Exited:
      return " " + describe_outcome(rank) + describe_phase(rank) + after_colon(crash_text(rank));
    default: return " " + describe_outcome(rank) + describe_phase(rank);
  }
}

std::string crash_text(const RankRecord& rank) {
  if (const RankError* error = sanitizer_error(rank)) {
    return error->type + ": " + base::one_line(error->text) + place(*error);
  }
  for (const RankError& error : rank.errors) {
    if (error.is_crash) return base::one_line(error.text) + place(error);
  }
  return "";
}

std::string describe_bad_ends(const AttemptRecord& attempt) {
  std::string text;
  int more = 0;
  for (RankRecord rank : attempt.ranks) {
    if (!rank.bad_end) continue;
    if (!text.empty()) {
      ++more;
      continue;
    }
    rank.outcome = *rank.bad_end;
    text = name_of_rank(attempt, rank.rank) + describe_action(rank);
  }
  if (more == 0) return text;
  return text + ", and " + std::to_string(more) + " more rank" + (more == 1 ? "" : "s") + " ended badly";
}

std::string describe_leaks(const std::vector<Leak>& leaks) {
  constexpr std::size_t kNamed = 3;
  std::string text = "left behind: ";
  for (std::size_t i = 0; i < leaks.size() && i < kNamed; ++i) {
    text += (i > 0 ? ", " : "") + std::string(name_of(leaks[i].kind)) + " " + leaks[i].what;
  }
  if (leaks.size() > kNamed) text += " and " + std::to_string(leaks.size() - kNamed) + " more";
  return text;
}

}  // namespace distrun::runner
