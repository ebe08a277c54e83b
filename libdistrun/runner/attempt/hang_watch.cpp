#include <distrun/runner/attempt/hang_watch.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/runner/attempt/gentle_look.hpp>
#include <distrun/runner/record/doctor/build_graph.hpp>
#include <distrun/runner/record/doctor/causes.hpp>

namespace distrun::runner {
namespace {

constexpr Nanoseconds kPeriod = std::chrono::milliseconds(200);
constexpr Nanoseconds kGap = std::chrono::milliseconds(100);  // between the looks of a pair
constexpr int kIdleShare = 20;                                // a quiet rank uses less than this part of the time
constexpr int kPauseGrowth = 10;
constexpr double kLooksMax = 3;
constexpr Nanoseconds kLookPrice = std::chrono::seconds(6);

// A program that waits for input, perhaps of the user, does not hang.
Nanoseconds suspicion_of(const Settings& settings) {
  return settings.stdin_rank >= 0 ? Nanoseconds::zero() : settings.suspect_after;
}

// Returns the first causes that are proven; none if the first is not.
std::vector<HangCause> proven(std::vector<HangCause> causes) {
  const auto end =
      std::find_if(causes.begin(), causes.end(), [](const HangCause& each) { return !each.is_deadlock(); });
  causes.erase(end, causes.end());
  return causes;
}

}  // namespace

HangWatch::HangWatch(Ranks& ranks, OnDeadlock on_deadlock)
    : ranks_(ranks),
      on_deadlock_(std::move(on_deadlock)),
      looks_(kLooksMax),
      suspect_after_(suspicion_of(ranks.run.settings)),
      alarm_(ranks.run.loop, [this] { on_alarm(); }) {}

void HangWatch::begin() {
  const bool is_wanted = ranks_.run.settings.deadlock != DeadlockPolicy::Off || suspect_after_.count() > 0;
  if (!is_wanted || ranks_.test.is_host() || ranks_.run.settings.debug_rank >= 0) return end();
  activity_.resize(ranks_.all.size());
  checked_at_ = quiet_since_ = still_since_ = looks_counted_at_ = ranks_.clocks.now();
  wait_for(kPeriod);
}

void HangWatch::end() {
  state_ = State::Over;
  alarm_.cancel();
}

void HangWatch::wait_for(Nanoseconds time) { alarm_.set(base::deadline_after(time, ranks_.clocks.now())); }

void HangWatch::on_alarm() {
  if (state_ == State::Over) return;
  if (ranks_.world == nullptr) return wait_for(kPeriod);
  const base::TimePoint now = ranks_.clocks.now();
  observe(now);
  const bool may_hang = ranks_.have_all_started() && (is_quiet() || is_suspicious(now));
  if (!may_hang || ranks_.clocks.is_paused() || ranks_.clocks.is_traced(*ranks_.world)) {
    state_ = State::Watching;
    return wait_for(kPeriod);
  }
  if (state_ == State::Comparing) return look(State::Comparing);
  if (may_look(now)) return look(State::Looking);
  wait_for(kPeriod);
}

// Threads that wake up from time to time, such as heartbeats, are not activity.
void HangWatch::observe(base::TimePoint now) {
  const Nanoseconds passed = now - std::exchange(checked_at_, now);
  bool still = true;
  bool idle = true;
  for (std::size_t i = 0; i < ranks_.all.size(); ++i) {
    if (!ranks_.all[i].alive()) continue;
    const int rank = ranks_.all[i].record.rank;
    const Activity seen{ranks_.world->epoch(rank), ranks_.world->cpu_time(rank)};
    const Activity before = std::exchange(activity_[i], seen);
    still = still && seen.epoch == before.epoch;
    idle = idle && (seen.cpu - before.cpu) * kIdleShare <= passed;
  }
  if (!still) still_since_ = now;
  if (still && idle) return;
  quiet_since_ = now;
  next_look_ = kPeriod;
}

bool HangWatch::is_suspicious(base::TimePoint now) const {
  return suspect_after_.count() > 0 && now - still_since_ >= suspect_after_;
}

// Nothing new is expected of a pause that goes on: each look comes after a multiple of the time.
bool HangWatch::may_look(base::TimePoint now) {
  const Nanoseconds passed = now - std::exchange(looks_counted_at_, now);
  looks_ = std::min(kLooksMax, looks_ + static_cast<double>(passed.count()) / static_cast<double>(kLookPrice.count()));
  const Nanoseconds quiet = now - quiet_since_;
  if (looks_ < 1 || (quiet < next_look_ && !is_suspicious(now))) return false;
  looks_ -= 1;
  next_look_ = kPauseGrowth * quiet;
  return true;
}

void HangWatch::look(State state) {
  state_ = state;
  look_gently(ranks_, {SnapshotKind::Suspect, 1, ranks_.run.graces.evidence}, alive_, [this](Snapshot snapshot) {
    if (state_ != State::Over) on_look(std::move(snapshot));
  });
}

void HangWatch::on_look(Snapshot snapshot) {
  if (state_ == State::Looking) {
    earlier_ = std::move(snapshot);
    state_ = State::Comparing;
    return wait_for(kGap);
  }
  state_ = State::Watching;
  wait_for(kPeriod);
  if (!snapshot.has_news_in_flight) compare(snapshot);
}

void HangWatch::compare(const Snapshot& now) {
  const std::vector<HangCause> causes = doctor::causes_of(doctor::graph_of(now, &*earlier_));
  earlier_.reset();
  std::vector<HangCause> deadlock = proven(causes);
  if (!deadlock.empty() && ranks_.run.settings.deadlock != DeadlockPolicy::Off) {
    end();
    return on_deadlock_(std::move(deadlock));
  }
  suspect(causes);
}

// The reader of a terminal wants to know before the timeout; the verdict is not affected. Ranks that compute while none
// waits for them are no reason for a line.
void HangWatch::suspect(const std::vector<HangCause>& causes) {
  if (!is_suspicious(ranks_.clocks.now())) return;
  suspect_after_ *= 2;
  if (causes.empty() || causes.front().kind == HangKind::Unknown) return;
  if (causes.front().kind == HangKind::Slow && causes.front().victims.empty() && !is_quiet()) return;
  ranks_.log.tell_suspicion(causes.front());
}

}  // namespace distrun::runner
