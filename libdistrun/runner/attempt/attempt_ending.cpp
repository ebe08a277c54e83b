// The second part of Attempt: its states and its end.
#include <signal.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include <distrun/common/base/text.hpp>
#include <distrun/common/board/describe.hpp>
#include <distrun/runner/attempt/attempt.hpp>
#include <distrun/runner/attempt/sanitizer_report.hpp>
#include <distrun/runner/proc/process_tree.hpp>
#include <distrun/runner/record/judge.hpp>
#include <distrun/runner/record/snapshot.hpp>

namespace distrun::runner {
namespace {

// Adds the report that a sanitizer has printed on the rank's standard error before it ended the rank.
void add_sanitizer_error(RankRecord& rank) {
  const bool is_good = rank.outcome.kind == OutcomeKind::Passed || rank.outcome.kind == OutcomeKind::Skipped;
  if (is_good && !rank.bad_end) return;
  auto report = find_sanitizer_report(rank.err.text);
  if (!report) return;
  RankError error;
  error.type = std::move(report->sanitizer);
  error.text = std::move(report->summary);
  error.file = std::move(report->file);
  error.line = report->line;
  error.is_crash = true;
  rank.errors.insert(rank.errors.begin(), std::move(error));  // more useful than a stack through abort()
}

// Returns the last lines, within a size limit: errors are usually at the end.
std::string_view last_lines(std::string_view text) {
  constexpr int kLines = 50;
  constexpr std::size_t kBytesMax = 64U << 10U;
  std::size_t begin = text.size();
  for (int lines = 0; begin > 0 && text.size() - begin < kBytesMax; --begin) {
    const bool ends_line = text[begin - 1] == '\n';
    if (ends_line && begin < text.size() && ++lines == kLines) break;
  }
  return text.substr(begin);
}

void keep(Captured& stream, std::string_view kept) {
  if (kept.size() == stream.text.size()) return;  // complete
  stream.bytes_dropped = stream.bytes_total - kept.size();
  stream.text = kept.empty() ? ""
                             : "[distrun: " + std::to_string(stream.bytes_dropped) + " bytes left out here]\n" +
                                   std::string(kept);
}

// A program's output was shown as it arrived. For later readers of a failure, keeps the last lines of standard error.
void forget_output(AttemptRecord& attempt) {
  for (RankRecord& rank : attempt.ranks) {
    keep(rank.out, "");
    keep(rank.err, is_good(attempt.verdict) ? "" : last_lines(rank.err.text));
  }
}

// Returns what a process forked by the rank has done in the rank's place, or nothing.
std::optional<RankError> stray_error(const std::string& rank, const std::optional<board::Shown>& seen) {
  if (!seen || seen->stray_child == 0) return std::nullopt;
  RankError error;
  const std::string child = "a child that " + rank + " forked (process " + std::to_string(seen->stray_child) + ")";
  error.type = seen->child_returned ? "ChildReturned" : "ChildFailed";
  error.text =
      seen->child_returned ? child + " returned from the body" : "a check failed in " + child + "; see standard error";
  return error;
}

// A child that had failed when it was seen may have returned from the body since, which says more.
void renew_stray_error(RankState& rank, std::optional<RankError> seen) {
  if (!rank.stray_error || !seen) return;
  RankError& told = rank.record.errors[*rank.stray_error];
  told.type = std::move(seen->type);
  told.text = std::move(seen->text);
}

// The rank's other errors follow from this one.
void put_stray_error_first(RankState& rank) {
  if (!rank.stray_error) return;
  const auto begin = rank.record.errors.begin();
  const auto at = begin + static_cast<std::ptrdiff_t>(*rank.stray_error);
  std::rotate(begin, at, at + 1);
}

// Returns whether the process's end is about to be reported. On a busy machine that takes longer than a grace.
bool is_about_to_end(pid_t pid) { return !proc::threads_of(pid).empty() && proc::is_ending(pid); }

// "2.0 s", or "2.0 s, extended by 3.1 s because ranks waited for a CPU,".
std::string bound_text(Nanoseconds bound, const RankState& rank) {
  const std::string text = base::human(bound);
  if (rank.extended == Nanoseconds::zero()) return text;
  return text + ", extended by " + base::human(rank.extended) + " because ranks waited for a CPU,";
}

// The longest time that a snapshot may take: three times its bound on a busy machine, plus a margin for a late loop.
Nanoseconds longest_snapshot(Nanoseconds bound) { return 3 * bound + std::chrono::milliseconds(100); }

}  // namespace

void Attempt::cancel(Urgency urgency) {
  if (!world_ || is_over()) return;
  const bool is_first = !std::exchange(record_.cancelled, true);
  const bool may_hang = !test_.is_program() && age() >= run_.graces.last_snapshot_after;
  if (is_first && may_hang && state_ == State::Running && urgency == Urgency::Polite) return take_last_snapshot();
  if (state_ == State::Running || state_ == State::Snapshot || state_ == State::Grace) terminate();
  if (urgency == Urgency::AtOnce && state_ == State::Terminating) kill();
}

// Takes a last snapshot, so that a user who stops a hanging test learns where it hangs.
void Attempt::take_last_snapshot() {
  enter(State::Snapshot, longest_snapshot(run_.graces.last_snapshot));
  snapshots_.take(SnapshotKind::Asked, run_.graces.last_snapshot, {});
}

void Attempt::on_alarm() {
  const base::TimePoint now = clocks_.now();
  lose_ranks(now);
  if (world_ && !clocks_.extend_for_cpu_waits(*world_)) return;
  check_hold(now);
  if (clocks_.take_slow_snapshot(now)) take_snapshot(SnapshotKind::Slow);
  if (state_ == State::Running) time_out_ranks(now);
  if (clocks_.is_state_over(now)) move_on();
  clocks_.arm();
}

void Attempt::lose_ranks(base::TimePoint now) {
  for (RankState& rank : ranks_) {
    if (rank.ended || rank.decided() || now < rank.lost_at) continue;
    if (is_about_to_end(rank.record.pid)) {
      rank.lost_at = now + run_.graces.connection;
      continue;
    }
    rank.lost_at = base::TimePoint::max();
    const std::string why = rank.record.outcome.text;
    fail(rank, {OutcomeKind::Lost, 0, why});
  }
}

void Attempt::time_out_ranks(base::TimePoint now) {
  if (now < clocks_.timeout_at() || clocks_.held_by_debugger(*world_, snapshots_.pending() > 0) || find_strays())
    return;
  if (lacks_ranks(now)) return terminate();
  enter(State::Snapshot, longest_snapshot(run_.graces.evidence));
  for (RankState& rank : ranks_) {
    if (rank.ended) continue;
    if (rank.deadline > now) {
      bystanders_ = true;
      continue;
    }
    const Outcome late{OutcomeKind::TimedOut, 0, bound_text(clocks_.bound_of(rank.record.phase), rank)};
    if (ends_for_all(rank)) {
      end_for_all(rank, late);
    } else if (!rank.decided()) {
      fail(rank, late);
    }
  }
  take_snapshot(SnapshotKind::Timeout);
}

// Takes waits from the board. For barriers and messages between ranks, `waiting_in` is set already.
void Attempt::note_waits(const Snapshot& snapshot) {
  for (const RankView& view : snapshot.ranks) {
    RankRecord& rank = at(view.rank).record;
    const board::ShownWait* const wait = view.shown ? board::main_wait(*view.shown) : nullptr;
    const bool is_late = rank.outcome.kind == OutcomeKind::TimedOut;
    if (is_late && wait != nullptr && rank.waiting_in.empty()) rank.waiting_in = name_of_wait(*wait);
  }
}

bool Attempt::lacks_ranks(base::TimePoint now) {
  const bool unstarted = std::any_of(ranks_.begin(), ranks_.end(),
                                     [&](const RankState& rank) { return !rank.started && now >= rank.deadline; });
  if (!unstarted || spawn_expected_ == 0 || !record_.infra_error.empty()) return false;
  record_.infra_error = std::to_string(spawn_expected_) + " ranks did not start within " +
                        base::human(clocks_.bound_of(wire::Phase::Spawn));
  return true;
}

// The test keeps its result; the bad end is reported by the lane that gives the rank its tests.
Outcome Attempt::end_for_all(RankState& rank, const Outcome& bad_end) {
  if (!rank.record.bad_end) rank.record.bad_end = bad_end;
  return outcome_at_done(rank);
}

void Attempt::enter(State state, Nanoseconds stay) {
  state_ = state;
  decide_held();  // no time is left to wait for reports of deaths
  clocks_.begin_state(stay);
}

void Attempt::move_on() {
  switch (state_) {
    case State::Snapshot:
      if (!bystanders_ || first_failed_ < 0) return terminate();  // no rank is left that could use a grace
      tell_peers(at(first_failed_));
      return enter(State::Grace, run_.graces.peers);
    case State::Grace: return terminate();
    case State::Terminating: return asked_by_ == SIGTERM ? kill() : ask_to_end(SIGTERM);
    case State::Killing: return give_up();
    default: return;
  }
}

void Attempt::terminate() { ask_to_end(run_.settings.stop_signal); }

// Programs that ignore a stop signal chosen by the user get SIGTERM, as all other ranks do.
void Attempt::ask_to_end(int signal) {
  asked_by_ = signal;
  for (RankState& rank : ranks_) {
    if (!rank.alive()) continue;
    if (rank.record.waiting_in.empty()) rank.record.waiting_in = messaging_.waiting_in(rank.record.rank);
    rank.signaled_by_us = true;
    world_->signal(rank.record.rank, signal);
    world_->signal(rank.record.rank, SIGCONT);  // a stopped process handles no signal but SIGKILL
  }
  enter(State::Terminating, run_.graces.terminate);
}

void Attempt::kill() {
  for (const RankState& rank : ranks_) {
    if (rank.alive()) world_->signal(rank.record.rank, SIGKILL);
  }
  enter(State::Killing, run_.graces.kill);
}

void Attempt::give_up() {
  for (RankState& rank : ranks_) {
    if (!rank.alive()) continue;
    if (!rank.decided()) decide(rank);
    if (rank.record.outcome.kind == OutcomeKind::Running) {
      rank.record.outcome = {OutcomeKind::KilledByUs, 0, ""};
      rank.record.because_of = first_failed_;
    }
    record_.leaks.push_back(
        {LeakKind::Process, proc::describe_process(rank.record.pid) + ", which SIGKILL did not end", false});
    rank.ended = true;
  }
  spawn_expected_ = 0;
  check_all_ended();
}

// ---- the end

void Attempt::check_all_ended() {
  if (is_over() || spawn_expected_ > 0 || snapshots_.pending() > 0) return;
  bool alive = false;
  for (const RankState& rank : ranks_) {
    if (!rank.alive()) continue;
    if (!rank.settled) return;
    alive = true;
  }
  if (!alive) {
    sweep();
  } else if (may_be_kept()) {
    keep();
  } else {
    dismiss();
  }
}

std::optional<RankError> Attempt::stray_of(const RankState& rank) const {
  const int number = rank.record.rank;
  return stray_error(test_.is_host() ? "the host" : "rank " + std::to_string(number), world_->shown(number));
}

bool Attempt::find_stray(RankState& rank) {
  if (rank.stray_error || !rank.started || test_.is_program()) return false;
  std::optional<RankError> error = stray_of(rank);
  if (!error) return false;
  add_error(rank.record.rank, std::move(*error));
  rank.stray_error = rank.record.errors.size() - 1;
  if (!is_failure(rank.record.outcome)) fail(rank, {OutcomeKind::Failed, 0, ""});
  return true;
}

void Attempt::on_stray_child(int rank) {
  if (state_ == State::Running) find_stray(at(rank));
}

bool Attempt::find_strays() {
  bool found = false;
  for (RankState& rank : ranks_) found = find_stray(rank) || found;
  return found;
}

// A host that failed to set its suite up ends. Ranks that are threads end together.
bool Attempt::stays(const RankState& rank) const {
  return order_.threads || (order_.stay && (rank.done_passed || !test_.is_host()));
}

// The rank has reported its result and now waits for the next test or its dismissal.
void Attempt::settle(RankState& rank) {
  rank.settled = true;
  rank.deadline = base::TimePoint::max();
  const Outcome outcome = outcome_at_done(rank);
  if (is_failure(outcome) && !rank.decided()) fail(rank, outcome);
  settle_held();
  check_all_ended();
}

// Called when all ranks have settled. Anything unusual is examined after the ranks have ended, as in other isolations.
bool Attempt::may_be_kept() {
  const bool all_here = std::all_of(ranks_.begin(), ranks_.end(), [](const RankState& rank) {
    return rank.alive() && rank.settled && !rank.used_up;
  });
  const bool fine = state_ == State::Running && first_failed_ < 0 && !record_.cancelled && record_.leaks.empty() &&
                    record_.infra_error.empty();
  if (!order_.stay || !all_here || !fine) return false;
  if (test_.is_host()) return true;  // what it has started and created is for the suite's tests
  return !world_->has_offspring() && !resources_.any() && !find_strays();
}

void Attempt::keep() {
  clocks_.stop();
  kept_ = true;
  if (sets_up_suite_) environment_.standing->hold({dirs_, store_});
  for (RankState& rank : ranks_) {
    rank.record.outcome = outcome_at_done(rank);
    rank.record.ended = age();
    decide(rank);
    run_.events.on_rank_end(test_.id, record_.n, rank.record);
  }
  finish({});
}

// Settled ranks end now, within the bound of their exit phase or that of the attempt's state.
void Attempt::dismiss() {
  for (RankState& rank : ranks_) {
    if (!rank.alive()) continue;
    rank.settled = false;
    messaging_.send(rank.record.rank, wire::ControlFrame::Dismiss);
    enter_phase(rank, wire::Phase::Exit);
  }
  clocks_.arm();
}

void Attempt::sweep() {
  state_ = State::Sweeping;
  clocks_.stop();
  snapshots_.tell_throws();
  // A child that returned from the body reports that and ends a moment later.
  const bool awaits_stray =
      std::any_of(ranks_.begin(), ranks_.end(), [](const RankState& rank) { return rank.stray_error.has_value(); });
  const bool patient = (first_failed_ < 0 || awaits_stray) && !record_.cancelled;
  sweep_ = std::make_unique<Sweep>(run_.loop, *world_, resources_, run_.graces, patient,
                                   [this](std::vector<Leak> leaks) { finish(std::move(leaks)); });
  sweep_->start();
}

void Attempt::finish(std::vector<Leak> leaks) {
  find_strays();  // a stray child may have outlived its rank
  find_root_causes();
  state_ = State::Over;
  world_->finish_output();
  for (RankState& rank : ranks_) {
    rank.record.out = world_->standard_output(rank.record.rank);
    rank.record.err = world_->standard_error(rank.record.rank);
    renew_stray_error(rank, stray_of(rank));
    put_stray_error_first(rank);
    add_sanitizer_error(rank.record);
    record_.ranks.push_back(std::move(rank.record));
  }
  const bool hold = kept_ && sets_up_suite_;
  const std::string stuck = hold ? "" : dirs_->clear();
  if (!stuck.empty()) leaks.push_back({LeakKind::File, stuck, false});
  if (!run_.settings.leaks_off) std::move(leaks.begin(), leaks.end(), std::back_inserter(record_.leaks));
  conclude(record_);
  if (!run_.settings.keep_output) forget_output(record_);
  record_.duration = age();
  hand_over_trace();
  run_.events.on_attempt_end(test_.id, record_);
  over_.set(true);
}

// The board still shows what a thread was waiting for when its rank ended, even if its trace was cut.
void Attempt::hand_over_trace() {
  if (trace_ == nullptr) return;
  std::vector<RankView> views;
  for (const RankRecord& rank : record_.ranks) views.push_back({rank.rank, world_->shown(rank.rank)});
  record_.trace =
      run_.traces->write({test_.plugin, test_.id, record_, started_, clocks_.now(), *trace_, std::move(views)});
}

}  // namespace distrun::runner
