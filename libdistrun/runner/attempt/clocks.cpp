#include <distrun/runner/attempt/clocks.hpp>

#include <signal.h>

#include <algorithm>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/runner/evidence/proc/task_state.hpp>

namespace distrun::runner {
namespace {

// Ranks reach a phase within milliseconds of each other, on a busy machine within tenths of a second. When one times
// out, the others get this long to do so too: it distinguishes a rank that hangs from those that wait for it.
constexpr auto kSkew = std::chrono::milliseconds(500);
constexpr Nanoseconds kDebuggerPause = std::chrono::milliseconds(500);  // interval between checks for a debugger
constexpr int kExtensionMax = 3;  // times the bound: a rank that never gets a CPU is not waited for either
constexpr int kNoticeable = 10;   // shorter waits than this fraction of the elapsed time are normal scheduling
constexpr int kReadAtOnce = 8;    // ranks whose waits are read in one step of the loop
constexpr base::TimePoint kNever = base::TimePoint::max();

void extend(base::TimePoint& deadline, Nanoseconds& extended, Nanoseconds more, Nanoseconds bound) {
  if (deadline == kNever) return;
  const Nanoseconds longest = bound > Nanoseconds::max() / kExtensionMax ? Nanoseconds::zero() : kExtensionMax * bound;
  const Nanoseconds step = std::min(more, std::max(longest - extended, Nanoseconds::zero()));
  deadline += step;
  extended += step;
}

}  // namespace

Clocks::Clocks(const RunContext& run, const wire::TestInfo& test, std::vector<RankState>& ranks,
               std::function<void()> on_alarm)
    : run_(run), test_(test), ranks_(ranks), waits_read_at_(now()), alarm_(run.loop, std::move(on_alarm)) {}

Nanoseconds Clocks::bound_of(wire::Phase phase) const { return runner::bound_of(phase, test_, run_.settings); }

void Clocks::begin_phase(RankState& rank, wire::Phase phase) {
  rank.deadline = base::deadline_after(bound_of(phase), now());
  rank.extended = Nanoseconds::zero();
  if (phase == wire::Phase::Body && run_.settings.stacks_after.count() > 0 && !slow_is_set_) {
    slow_is_set_ = true;
    slow_at_ = base::deadline_after(run_.settings.stacks_after, now());
    if (slow_at_ < state_deadline_) arm();
  }
  // A later deadline need not move the alarm: it comes too early then, and is set again.
  if (phase != wire::Phase::Spawn && rank.deadline < std::min(state_deadline_, armed_for_)) arm();
}

void Clocks::begin_loss(RankState& rank, Nanoseconds grace) {
  rank.lost_at = base::deadline_after(grace, now());
  arm();
}

void Clocks::hold_until(base::TimePoint at) {
  hold_until_ = at;
  arm();
}

void Clocks::begin_state(Nanoseconds stay) {
  state_deadline_ = base::deadline_after(stay, now());
  state_stay_ = stay;
  state_extended_ = Nanoseconds::zero();
  arm();
}

// Reads the waits of the next ranks. Returns whether all have been read.
bool Clocks::read_cpu_waits(const launch::World& world) {
  for (int i = 0; i < kReadAtOnce && waits_read_ < ranks_.size(); ++i, ++waits_read_) {
    RankState& rank = ranks_[waits_read_];
    if (!rank.alive()) continue;
    const Nanoseconds waited = world.cpu_wait(rank.record.rank);
    longest_wait_ = std::max(longest_wait_, waited - std::exchange(rank.cpu_wait, waited));
  }
  return waits_read_ == ranks_.size();
}

// Kept ranks bring the waits of earlier tests into the first reading, so no more than the elapsed time counts.
Nanoseconds Clocks::take_cpu_wait() {
  const Nanoseconds passed = now() - std::exchange(waits_read_at_, now());
  const Nanoseconds most = std::exchange(longest_wait_, {});
  waits_read_ = 0;
  return most < passed / kNoticeable ? Nanoseconds::zero() : std::min(most, passed);
}

bool Clocks::extend_for_cpu_waits(const launch::World& world) {
  if (waits_read_ == 0 && !is_due()) return true;
  if (!read_cpu_waits(world)) {
    alarm_.set(now());
    return false;
  }
  const Nanoseconds more = take_cpu_wait();
  if (more == Nanoseconds::zero()) return true;
  for (RankState& rank : ranks_) {
    if (!rank.ended) extend(rank.deadline, rank.extended, more, bound_of(rank.record.phase));
  }
  extend(state_deadline_, state_extended_, more, state_stay_);
  return true;
}

void Clocks::stop() {
  over_ = true;
  alarm_.cancel();
}

void Clocks::arm() {
  armed_for_ = kNever;
  if (paused_at_ != kNever) return alarm_.cancel();
  if (over_) return;
  base::TimePoint next = std::min(state_deadline_, hold_until_);
  for (const RankState& rank : ranks_) {
    if (!rank.ended) next = std::min(next, rank.lost_at);
  }
  if (is_running() && run_.settings.debug_rank < 0) next = std::min(next, timeout_at());
  if (is_running()) next = std::min(next, slow_at_);
  armed_for_ = next;
  alarm_.set(next);
}

bool Clocks::take_slow_snapshot(base::TimePoint now) {
  if (!is_running() || now < slow_at_) return false;
  slow_at_ = kNever;
  return true;
}

base::TimePoint Clocks::timeout_at() const {
  base::TimePoint first = kNever;
  for (const RankState& rank : ranks_) {
    if (!rank.ended) first = std::min(first, rank.deadline);
  }
  base::TimePoint last = first;
  for (const RankState& rank : ranks_) {
    if (!rank.ended && rank.deadline - first <= kSkew) last = std::max(last, rank.deadline);
  }
  return last;
}

bool Clocks::is_traced(const launch::World& world) const {
  return std::any_of(ranks_.begin(), ranks_.end(), [&world](const RankState& rank) {
    // Asked five times a second of ranks that wait: the whole state of their processes would cost too much.
    const bool may_be = !rank.record.host.empty() || evidence::tracer_of(rank.record.pid) > 0;
    return rank.alive() && may_be && world.process_state(rank.record.rank).debugged;
  });
}

bool Clocks::held_by_debugger(const launch::World& world, bool probing) {
  if (run_.settings.debug_rank >= 0) return true;
  const bool held = is_traced(world);
  if (probing) return false;
  const bool was_held = std::exchange(held_, held);
  for (RankState& rank : ranks_) {
    if (rank.ended || !(held || was_held)) continue;
    // A rank that a debugger has released gets its whole bound again.
    const Nanoseconds more = held ? kDebuggerPause : bound_of(rank.record.phase);
    rank.deadline = std::max(rank.deadline, base::deadline_after(more, now()));
  }
  return held || was_held;
}

void Clocks::pause(launch::World* world) {
  if (paused_at_ != kNever) return;
  paused_at_ = now();
  for (const RankState& rank : ranks_) {
    // A rank that has stopped itself stays stopped after resume().
    if (!rank.alive() || world->process_state(rank.record.rank).stopped) continue;
    stopped_.push_back(rank.record.rank);
    world->signal(rank.record.rank, SIGSTOP);
  }
  arm();
}

void Clocks::resume(launch::World* world) {
  if (paused_at_ == kNever) return;
  const Nanoseconds stood = now() - std::exchange(paused_at_, kNever);
  stood_ += stood;
  const auto shift = [stood](base::TimePoint& time) {
    if (time != kNever) time += stood;
  };
  for (RankState& rank : ranks_) {
    shift(rank.deadline);
    shift(rank.lost_at);
  }
  shift(state_deadline_);
  shift(hold_until_);
  shift(slow_at_);
  for (const int rank : std::exchange(stopped_, {})) world->signal(rank, SIGCONT);
  arm();
}

}  // namespace distrun::runner
