// The part of Attempt that looks at its ranks: their board and their stacks.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <distrun/runner/attempt/attempt.hpp>
#include <distrun/runner/attempt/crash_error.hpp>
#include <distrun/runner/attempt/script_note.hpp>
#include <distrun/runner/evidence/proc/task_state.hpp>
#include <distrun/runner/record/look.hpp>

namespace distrun::runner {
namespace {

constexpr std::size_t kLooksMax = 10;
constexpr Nanoseconds kDebuggerPause = std::chrono::milliseconds(500);  // from one look for it to the next

}  // namespace

std::vector<RankView> Attempt::views() const {
  std::vector<RankView> views;
  for (const RankState& rank : ranks_) {
    if (rank.alive()) views.push_back({rank.record.rank, world_->shown(rank.record.rank)});
  }
  return views;
}

bool Attempt::look(LookKind kind, std::function<void(const Look&)> on_look) {
  if (!world_ || state_ == State::Sweeping || state_ == State::Over) return false;
  Look look;
  look.kind = kind;
  look.at = since_start();
  look.at_ns = monotonic_ns(run_.loop.clock().now());
  look.ranks = views();
  ++looks_pending_;
  launch::StackOrder order;
  order.bound = run_.graces.evidence;
  world_->collect_stacks(order, [this, alive = std::weak_ptr(alive_), look = std::move(look),
                                 on_look = std::move(on_look)](evidence::Stacks stacks) {
    if (!alive.expired()) on_looked(look, std::move(stacks), on_look);
  });
  return true;
}

void Attempt::on_looked(Look look, evidence::Stacks stacks, const std::function<void(const Look&)>& on_look) {
  look.took = since_start() - look.at;
  look.stacks = std::move(stacks);
  look.text = describe(look);
  if (test_.is_program()) add_script_notes(look);
  const bool of_timeout = look.kind == LookKind::Timeout;
  if (on_look) {
    on_look(look);
  } else {
    add_look(std::move(look));
  }
  end_look();
  if (of_timeout && state_ == State::Looking) move_on();
}

// Those of which an attempt has one are never too many.
void Attempt::add_look(Look look) {
  run_.events.on_look(test_.id, record_.n, look);
  const bool is_only_one = look.kind == LookKind::Timeout || look.kind == LookKind::Exception;
  if (record_.looks.size() < kLooksMax || is_only_one) record_.looks.push_back(std::move(look));
}

void Attempt::end_look() {
  --looks_pending_;
  check_all_ended();
}

// The addresses that a crashed rank has left get names while its peers have their grace. Ranks that crash while a
// probe is at work share the next one.
void Attempt::name_crash(const RankState& rank) {
  auto dump = world_->crash(rank.record.rank);
  if (!dump || dump->signal == 0) return;
  const bool is_end = dump->signal == rank.record.signal;
  const bool is_dragged = rank.record.signal == 0 && dump->rank == rank.record.rank;
  if (!is_end && !is_dragged) return;
  crashes_.push_back({rank.record.rank, std::move(*dump)});
  if (!naming_) name_crashes();
}

void Attempt::name_crashes() {
  naming_ = true;
  ++looks_pending_;
  Look look;
  look.kind = LookKind::Crash;
  look.at = since_start();
  std::vector<std::pair<int, wire::RawStacks>> raw;
  for (Crash& crash : crashes_) raw.emplace_back(crash.rank, std::move(crash.dump.stacks));
  world_->name_stacks("crash handler", std::move(raw), run_.graces.evidence,
                      [this, alive = std::weak_ptr(alive_), look = std::move(look),
                       crashes = std::exchange(crashes_, {})](evidence::Stacks stacks) {
                        if (!alive.expired()) on_crashes_named(look, crashes, std::move(stacks));
                      });
}

void Attempt::on_crashes_named(Look look, const std::vector<Crash>& crashes, evidence::Stacks stacks) {
  for (const Crash& crash : crashes) add_error(at(crash.rank), crash_error(crash.rank, crash.dump, stacks));
  naming_ = false;
  if (!crashes_.empty()) name_crashes();
  on_looked(std::move(look), std::move(stacks));
}

// The same for exceptions, which a rank survives. Without a probe, or without its answer, the error stays as it is.
void Attempt::name_throw(int rank, std::size_t error, wire::RawStacks stack) {
  throws_.add(rank, error, std::move(stack));
  name_throws();
}

void Attempt::name_throws() {
  Throws::Batch batch = throws_.next_batch();
  if (batch.empty()) return;
  if (throws_look_.kind != LookKind::Exception) throws_look_.at = since_start();
  throws_look_.kind = LookKind::Exception;
  ++looks_pending_;
  world_->name_stacks("exception", std::move(batch), run_.graces.evidence,
                      [this, alive = std::weak_ptr(alive_)](evidence::Stacks stacks) {
                        if (!alive.expired()) on_throws_named(std::move(stacks));
                      });
}

void Attempt::on_throws_named(evidence::Stacks stacks) {
  throws_.named(std::move(stacks), [this](int rank, std::size_t error) {
    std::vector<RankError>& errors = at(rank).record.errors;
    return error < errors.size() ? &errors[error] : nullptr;
  });
  throws_look_.took = since_start() - throws_look_.at;
  name_throws();
  end_look();
}

// Once, when no rank throws any more: ranks that threw at the same place are told together.
void Attempt::tell_throws() {
  throws_look_.stacks = throws_.take();
  if (throws_look_.stacks.processes.empty()) return;
  throws_look_.text = describe(throws_look_);
  add_look(std::move(throws_look_));
}

// Whoever stops a rank to look at it wants it to live on; but no test ends its bounds by tracing itself, or by making
// us its tracer.
bool Attempt::held_by_debugger() {
  if (run_.settings.debug_rank >= 0) return true;
  const bool held = std::any_of(ranks_.begin(), ranks_.end(), [this](const RankState& rank) {
    const pid_t tracer = rank.alive() ? evidence::tracer_of(rank.record.pid) : 0;
    return tracer > 0 && tracer != ::getpid() && !world_->is_from_ranks(tracer);
  });
  if (looks_pending_ > 0) return false;  // by our own probe
  const base::TimePoint now = run_.loop.clock().now();
  const bool was_held = std::exchange(held_, held);
  for (RankState& rank : ranks_) {
    if (rank.ended || !(held || was_held)) continue;
    // Whoever is let go again has its whole bound before it.
    const Nanoseconds more = held ? kDebuggerPause : bound_of(rank.record.phase, test_.info, run_.settings);
    rank.deadline = std::max(rank.deadline, now + more);
  }
  return held || was_held;
}

void Attempt::let_go() {
  const int rank = run_.settings.debug_rank;
  if (rank < 0 || rank >= static_cast<int>(ranks_.size()) || !at(rank).alive()) return;
  send(rank, wire::pack_frame(wire::FrameKind::Finish, static_cast<std::uint16_t>(rank), {}));
}

void Attempt::pause() {
  if (paused_at_ != base::TimePoint::max()) return;
  paused_at_ = run_.loop.clock().now();
  for (const RankState& rank : ranks_) {
    // One that has stopped itself stays so afterwards.
    if (!rank.alive() || evidence::read_pulse(rank.record.pid, rank.record.pid).state == 'T') continue;
    stopped_.push_back(rank.record.rank);
    world_->signal(rank.record.rank, SIGSTOP);
  }
  arm();
}

void Attempt::resume() {
  if (paused_at_ == base::TimePoint::max()) return;
  const Nanoseconds stood = run_.loop.clock().now() - paused_at_;
  paused_at_ = base::TimePoint::max();
  const auto shift = [stood](base::TimePoint& time) {
    if (time != base::TimePoint::max()) time += stood;
  };
  for (RankState& rank : ranks_) {
    shift(rank.deadline);
    shift(rank.lost_at);
  }
  shift(state_deadline_);
  shift(slow_at_);
  for (const int rank : std::exchange(stopped_, {})) world_->signal(rank, SIGCONT);
  arm();
}

}  // namespace distrun::runner
