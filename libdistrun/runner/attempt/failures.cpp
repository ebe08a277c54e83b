#include <distrun/runner/attempt/failures.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/text.hpp>

namespace distrun::runner {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kHold = 100ms;     // waits for a rank that an error names
constexpr Nanoseconds kHoldMore = 20ms;  // interval between checks of ranks that are ending
constexpr Nanoseconds kHoldMax = 2s;     // a process may end slowly on a busy machine

// Returns the position of an outcome in the order of decisions.
int place_of(const RankRecord& rank) {
  switch (rank.outcome.kind) {
    case OutcomeKind::Signaled:
    case OutcomeKind::Lost: return rank.because_of < 0 ? 0 : 3;
    case OutcomeKind::Exited: return rank.because_of < 0 ? 1 : 3;
    default: return rank.because_of < 0 ? 2 : 3;
  }
}

}  // namespace

// A failed check lets its rank continue; the report needs the phase of that check.
void Failures::fail(RankState& rank, const Outcome& outcome) {
  rank.record.outcome = outcome;
  rank.record.failed_at = time_of(rank, outcome);
  const bool has_gone_on = outcome.kind == OutcomeKind::Failed && !rank.has_fatal_error();
  if (has_gone_on) rank.record.phase = rank.first_error_in.value_or(rank.record.phase);
  rank.record.waiting_in = ranks_.messaging.waiting_in(rank.record.rank);
  if (!owner_.is_running() || outcome.kind == OutcomeKind::TimedOut) return decide_failure(rank);
  hold(rank);
  settle();
}

// This machine itself decides that ranks are late or lost.
std::optional<RemoteTime> Failures::time_of(const RankState& rank, const Outcome& outcome) const {
  const bool is_event = outcome.kind != OutcomeKind::TimedOut && outcome.kind != OutcomeKind::Lost;
  const auto seen = is_event && ranks_.world != nullptr ? ranks_.world->seen_at(rank.record.rank) : std::nullopt;
  if (!seen) return std::nullopt;
  return RemoteTime{seen->at - ranks_.log.started(), seen->error};
}

void Failures::hold(RankState& rank) {
  if (held_.empty()) {
    hold_end_ = ranks_.clocks.now() + kHoldMax;
    ranks_.clocks.hold_until(ranks_.clocks.now() + kHold);
  }
  rank.is_held = true;
  held_.push_back(rank.record.rank);
}

// Returns whether the rank has yet to end, so that its end may turn out to be the cause of a held failure.
bool Failures::may_be_named(int rank) const {
  if (!ranks_.has(rank)) return false;
  const RankState& state = ranks_.all[static_cast<std::size_t>(rank)];
  return state.alive() && !state.done && !state.decided();
}

bool Failures::is_death_near() const {
  return std::any_of(ranks_.all.begin(), ranks_.all.end(), [this](const RankState& rank) {
    return rank.alive() && !rank.done && !rank.decided() && is_dying(rank);
  });
}

// Returns whether the rank is crashing or has called exit(), which its slot shows first, or the kernel takes it apart.
bool Failures::is_dying(const RankState& rank) const {
  if (ranks_.world->crash(rank.record.rank)) return true;
  if (rank.shares_process) return false;
  const launch::ProcessState process = ranks_.world->process_state(rank.record.rank);
  return process.exists && process.ends;
}

void Failures::settle() {
  if (held_.empty()) return;
  const bool is_named_open = std::any_of(held_.begin(), held_.end(), [this](int rank) {
    return may_be_named(root_cause(ranks_.at(rank).record.because_of));
  });
  if (!is_named_open && !is_death_near()) decide_held();
}

void Failures::check(base::TimePoint now) {
  if (held_.empty() || !ranks_.clocks.is_hold_over(now)) return;
  if (now >= hold_end_ || !is_death_near()) return decide_held();
  ranks_.clocks.hold_until(now + kHoldMore);
}

void Failures::decide_held() {
  std::vector<int> ranks = std::exchange(held_, {});
  if (ranks.empty()) return;
  ranks_.clocks.hold_until(base::TimePoint::max());
  std::stable_sort(ranks.begin(), ranks.end(),
                   [this](int a, int b) { return place_of(ranks_.at(a).record) < place_of(ranks_.at(b).record); });
  for (const int rank : ranks) {
    ranks_.at(rank).is_held = false;
    decide_failure(ranks_.at(rank));
  }
}

void Failures::decide_failure(RankState& rank) {
  decide(rank);
  if (first_ < 0) {
    first_ = rank.record.rank;
    // A rank that has reported its result may die in its exit handlers; that fails no test body.
    for (RankState& other : ranks_.all) {
      other.record.outlived_failure = !other.decided() && (other.done || !is_dying(other));
    }
  }
  if (!owner_.is_running()) return;
  tell_peers(rank);
  owner_.on_failure();
}

// Follows the chain of causes: if a rank failed because of another's failure, the report needs the last in the chain.
int Failures::root_cause(int rank) const {
  const int count = static_cast<int>(ranks_.all.size());
  for (int steps = 0; steps < count && rank >= 0 && rank < count; ++steps) {
    const int next = ranks_.all[static_cast<std::size_t>(rank)].record.because_of;
    if (next < 0) break;
    rank = next;
  }
  return rank;
}

// Called at the end, when all reports of ranks about each other are in: errors with one cause arrive in any order.
// Ranks that name each other in a cycle have no other cause.
void Failures::find_root_causes() {
  std::vector<int> roots;
  for (const RankState& rank : ranks_.all) {
    const int root = root_cause(rank.record.because_of);
    const bool is_circle = ranks_.has(root) && ranks_.at(root).record.because_of >= 0;
    roots.push_back(is_circle ? -1 : root);
  }
  for (std::size_t i = 0; i < ranks_.all.size(); ++i) ranks_.all[i].record.because_of = roots[i];
}

// Notifies the other ranks of the failure, or of its root cause if that is known.
void Failures::tell_peers(const RankState& failed) {
  if (ranks_.test.is_program()) return;  // they do not listen
  const int root = root_cause(failed.record.rank);
  const bool is_known = ranks_.has(root) && is_failure(ranks_.at(root).record.outcome);
  const RankRecord& cause = is_known ? ranks_.at(root).record : failed.record;
  wire::PeerFailed news;
  news.rank = cause.rank;
  news.text = cause.errors.empty() ? describe(cause.outcome) : base::one_line(cause.errors.back().text);
  for (const RankState& rank : ranks_.all) {
    if (&rank == &failed || rank.ended || rank.done) continue;
    ranks_.messaging.send(rank.record.rank, wire::ControlFrame::PeerFailed, news);
  }
}

// A wait for this rank will not complete, although its death is no failure.
void Failures::tell_declared_death(int rank) {
  for (const RankState& other : ranks_.all) {
    if (other.record.rank == rank || other.ended || other.done) continue;
    ranks_.messaging.send(other.record.rank, wire::ControlFrame::PeerDied, wire::PeerDied{rank});
  }
}

}  // namespace distrun::runner
