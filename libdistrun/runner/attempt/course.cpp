#include <distrun/runner/attempt/course.hpp>

#include <signal.h>

#include <algorithm>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/common/board/describe.hpp>
#include <distrun/runner/proc/process_tree.hpp>
#include <distrun/runner/record/snapshot.hpp>

namespace distrun::runner {
namespace {

// Returns whether the process's end is about to be reported. On a busy machine that takes longer than a grace.
bool is_about_to_end(const launch::World& world, int rank) {
  const launch::ProcessState process = world.process_state(rank);
  return process.exists && process.ends;
}

bool any_exits(const Ranks& ranks) {
  return std::any_of(ranks.all.begin(), ranks.all.end(), [&ranks](const RankState& rank) {
    return rank.alive() && ranks.world->process_state(rank.record.rank).ends;
  });
}

std::string process_of(const RankRecord& rank) {
  return rank.host.empty() ? proc::describe_process(rank.pid) : std::to_string(rank.pid) + " on " + rank.host;
}

// "2.0 s", or "2.0 s, extended by 3.1 s because ranks waited for a CPU,".
std::string bound_text(Nanoseconds bound, const RankState& rank) {
  const std::string text = base::human(bound);
  if (rank.extended == Nanoseconds::zero()) return text;
  return text + ", extended by " + base::human(rank.extended) + " because ranks waited for a CPU,";
}

// The longest time that a snapshot may take: three times its bound on a busy machine, plus a margin for a late loop.
Nanoseconds longest_snapshot(Nanoseconds bound) { return 3 * bound + std::chrono::milliseconds(100); }

// Returns what the rank waits for; empty if it shows no wait.
std::string waiting_in(const Ranks& ranks, int rank) {
  const std::string among_ranks = ranks.messaging.waiting_in(rank);
  const auto shown = ranks.world->shown(rank);
  const board::ShownWait* const wait = shown ? board::main_wait(*shown) : nullptr;
  return among_ranks.empty() && wait != nullptr ? name_of_wait(*wait) : among_ranks;
}

}  // namespace

Course::Course(Ranks& ranks, std::function<void(bool any_alive)> on_idle)
    : ranks_(ranks),
      snapshots_(ranks, [this](SnapshotKind kind) { on_snapshot_over(kind); }),
      watch_(ranks, [this](std::vector<HangCause> causes) { on_deadlock(std::move(causes)); }),
      on_idle_(std::move(on_idle)) {}

void Course::begin() {
  spawn_expected_ = ranks_.test.variant.world_size;
  for (RankState& rank : ranks_.all) ranks_.log.enter_phase(rank, wire::Phase::Spawn);
  watch_.begin();
}

void Course::add_started(RankState& rank) {
  --spawn_expected_;
  if (state_ < State::Terminating || state_ > State::Exiting) return;
  rank.signaled_by_us = true;  // too late to be of use
  ranks_.world->signal(rank.record.rank, SIGKILL);
}

void Course::fail_to_start(const std::string& why) {
  spawn_expected_ = 0;
  std::string& infra_error = ranks_.log.record().infra_error;
  if (infra_error.empty()) infra_error = why;
  if (is_before_end()) terminate();
  check_all_idle();
}

void Course::lose_host(const std::string& why) {
  if (ranks_.world == nullptr || state_ != State::Running) return;  // otherwise the attempt is already ending
  ranks_.log.record().lost_host = why;
  const wire::PeerFailed news{-1, why};
  for (const RankState& rank : ranks_.all) {
    if (rank.ended || rank.done) continue;
    ranks_.messaging.send(rank.record.rank, wire::ControlFrame::PeerFailed, news);
  }
  enter(State::Grace, ranks_.run.graces.peers);
  check_all_idle();
}

void Course::cancel(Urgency urgency) {
  AttemptRecord& record = ranks_.log.record();
  if (record.cancelled_because.empty()) record.cancelled_because = ranks_.run.why_stopped;
  if (ranks_.world == nullptr || is_past_ranks()) return;
  const bool is_first = !std::exchange(record.cancelled, true);
  const bool may_hang = !ranks_.test.is_program() && ranks_.log.age() >= ranks_.run.graces.last_snapshot_after;
  if (is_first && may_hang && state_ == State::Running && urgency == Urgency::Polite) return take_last_snapshot();
  if (is_before_end()) terminate();
  if (urgency == Urgency::AtOnce && state_ == State::Terminating) kill();
  check_all_idle();
}

// ---- snapshots

bool Course::take_snapshot(SnapshotKind kind, Snapshots::OnSnapshot on_snapshot, Nanoseconds settle) {
  if (ranks_.world == nullptr || is_past_ranks()) return false;
  const Graces& graces = ranks_.run.graces;
  const Nanoseconds bound = kind == SnapshotKind::Timeout ? graces.timeout_evidence : graces.evidence;
  snapshots_.take(kind, bound, std::move(on_snapshot), settle);
  return true;
}

// Takes a last snapshot, so that a user who stops a hanging test learns where it hangs.
void Course::take_last_snapshot() {
  enter(State::Snapshot, longest_snapshot(ranks_.run.graces.last_snapshot));
  snapshots_.take(SnapshotKind::Asked, ranks_.run.graces.last_snapshot, {});
}

void Course::on_snapshot_over(SnapshotKind kind) {
  check_all_idle();
  const bool is_awaited =
      kind == SnapshotKind::Timeout || kind == SnapshotKind::Deadlock || kind == SnapshotKind::Asked;
  if (is_awaited && state_ == State::Snapshot) move_on();
}

// A failure that is known but not decided yet explains more than what it has led to.
void Course::on_deadlock(std::vector<HangCause> causes) {
  if (state_ != State::Running || failures_.any_held() || strays_.find_all()) return;
  if (ranks_.run.settings.deadlock == DeadlockPolicy::Report) return ranks_.log.tell_suspicion(causes.front());
  ranks_.log.record().hang = std::move(causes);
  enter(State::Snapshot, longest_snapshot(ranks_.run.graces.evidence));
  take_snapshot(SnapshotKind::Deadlock);
}

// ---- bounds

void Course::on_alarm() {
  const base::TimePoint now = ranks_.clocks.now();
  lose_ranks(now);
  if (ranks_.world != nullptr && !ranks_.clocks.extend_for_cpu_waits(*ranks_.world)) return;
  failures_.check(now);
  if (ranks_.clocks.take_slow_snapshot(now)) take_snapshot(SnapshotKind::Slow);
  if (state_ == State::Running) time_out_ranks(now);
  if (ranks_.clocks.is_state_over(now)) move_on();
  ranks_.clocks.arm();
}

void Course::lose_ranks(base::TimePoint now) {
  for (RankState& rank : ranks_.all) {
    if (rank.ended || rank.decided() || now < rank.lost_at) continue;
    if (ranks_.world != nullptr && is_about_to_end(*ranks_.world, rank.record.rank)) {
      rank.lost_at = base::deadline_after(ranks_.run.graces.connection, now);
      continue;
    }
    rank.lost_at = base::TimePoint::max();
    const std::string why = rank.record.outcome.text;
    failures_.fail(rank, {OutcomeKind::Lost, 0, why});
  }
}

void Course::time_out_ranks(base::TimePoint now) {
  if (now < ranks_.clocks.timeout_at()) return;
  if (ranks_.clocks.held_by_debugger(*ranks_.world, snapshots_.pending() > 0) || strays_.find_all()) return;
  if (lacks_ranks(now)) return terminate();
  enter(State::Snapshot, longest_snapshot(ranks_.run.graces.timeout_evidence));
  for (RankState& rank : ranks_.all) {
    if (rank.ended) continue;
    if (rank.deadline > now) {
      bystanders_ = true;
      continue;
    }
    const Outcome late{OutcomeKind::TimedOut, 0, bound_text(ranks_.clocks.bound_of(rank.record.phase), rank)};
    if (ends_for_all(rank)) {
      end_for_all(rank, late);
    } else if (!rank.decided()) {
      failures_.fail(rank, late);
    }
  }
  take_snapshot(SnapshotKind::Timeout);
}

bool Course::lacks_ranks(base::TimePoint now) {
  const bool unstarted = std::any_of(ranks_.all.begin(), ranks_.all.end(),
                                     [&](const RankState& rank) { return !rank.started && now >= rank.deadline; });
  std::string& infra_error = ranks_.log.record().infra_error;
  if (!unstarted || spawn_expected_ == 0 || !infra_error.empty()) return false;
  infra_error = std::to_string(spawn_expected_) + " ranks did not start within " +
                base::human(ranks_.clocks.bound_of(wire::Phase::Spawn));
  return true;
}

// ---- from state to state

void Course::enter(State state, Nanoseconds stay) {
  state_ = state;
  watch_.end();
  peer_look_.end();
  failures_.decide_held();  // no time is left to wait for reports of deaths
  ranks_.clocks.begin_state(stay);
}

void Course::on_failure() {
  enter(State::Grace, ranks_.run.graces.peers);
  peer_look_.begin(ranks_.run.graces.peers);
}

void Course::move_on() {
  switch (state_) {
    case State::Snapshot:
      if (!bystanders_ || failures_.first() < 0) return terminate();  // no rank is left that could use a grace
      failures_.tell_peers(ranks_.at(failures_.first()));
      return enter(State::Grace, ranks_.run.graces.peers);
    case State::Grace: return terminate();
    case State::Terminating: return asked_by_ == SIGTERM ? kill() : ask_to_end(SIGTERM);
    case State::Killing:
      return any_exits(ranks_) ? enter(State::Exiting, ranks_.run.graces.exit - ranks_.run.graces.kill) : give_up();
    case State::Exiting: return give_up();
    default: return;
  }
}

void Course::terminate() { ask_to_end(ranks_.run.settings.stop_signal); }

// Programs that ignore a stop signal chosen by the user get SIGTERM, as all other ranks do.
void Course::ask_to_end(int signal) {
  asked_by_ = signal;
  for (RankState& rank : ranks_.all) {
    if (!rank.alive()) continue;
    const int number = rank.record.rank;
    if (rank.record.waiting_in.empty()) rank.record.waiting_in = waiting_in(ranks_, number);
    rank.signaled_by_us = true;
    ranks_.world->signal(number, signal);
    ranks_.world->signal(number, SIGCONT);  // a stopped process handles no signal but SIGKILL
  }
  enter(State::Terminating, ranks_.run.graces.terminate);
}

void Course::kill() {
  for (const RankState& rank : ranks_.all) {
    if (rank.alive()) ranks_.world->signal(rank.record.rank, SIGKILL);
  }
  enter(State::Killing, ranks_.run.graces.kill);
}

void Course::give_up() {
  for (RankState& rank : ranks_.all) {
    if (!rank.alive()) continue;
    if (!rank.decided()) failures_.decide(rank);
    if (rank.record.outcome.kind == OutcomeKind::Running) {
      rank.record.outcome = {OutcomeKind::KilledByUs, 0, ""};
      rank.record.because_of = failures_.first();
    }
    ranks_.log.record().leaks.push_back(
        {LeakKind::Process, process_of(rank.record) + ", which SIGKILL did not end", false});
    rank.ended = true;
  }
  spawn_expected_ = 0;
  check_all_idle();
}

void Course::check_all_idle() {
  if (is_past_ranks() || spawn_expected_ > 0 || snapshots_.pending() > 0) return;
  // Called at the end of each rank, so it does not begin with the first each time.
  while (over_ < ranks_.all.size() && ranks_.all[over_].ended) ++over_;
  bool any_alive = false;
  for (std::size_t i = over_; i < ranks_.all.size(); ++i) {
    if (!ranks_.all[i].alive()) continue;
    if (!ranks_.all[i].settled) return;
    any_alive = true;
  }
  if (any_alive || !patience_.should_wait()) on_idle_(any_alive);
}

void Course::end() {
  state_ = State::Over;
  watch_.end();
  peer_look_.end();
}

void Course::begin_sweep() {
  state_ = State::Sweeping;
  watch_.end();
  peer_look_.end();
  ranks_.clocks.stop();
  snapshots_.tell_throws();
}

}  // namespace distrun::runner
