#include <distrun/runner/attempt/attempt.hpp>

#include <signal.h>

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/common/wire/frame.hpp>
#include <distrun/common/wire/zygote.hpp>
#include <distrun/runner/attempt/program.hpp>
#include <distrun/runner/attempt/run_orders.hpp>
#include <distrun/runner/proc/process_tree.hpp>
#include <distrun/runner/record/judge.hpp>

namespace distrun::runner {
namespace {

constexpr std::size_t kErrorsMax = 100;  // per rank
constexpr std::size_t kNotesMax = 1000;
constexpr std::size_t kLeaksMax = 1000;  // reported by ranks
constexpr std::size_t kSnapshotsMax = 10;

// Returns the first phase of a process that has received an order.
wire::Phase first_phase(const PlannedTest& test) {
  if (test.host == wire::HostWork::TearDown) return wire::Phase::TearDown;
  if (test.variant.isolation == Isolation::Exec) return wire::Phase::Load;
  return test.info.has_fixture ? wire::Phase::SetUp : wire::Phase::Body;
}

template <class T>
T payload(const wire::Frame& frame) {
  return wire::decode<T>(wire::view_of(frame.payload));
}

void add_note(RankState& rank, wire::KeyValue note) {
  if (rank.record.notes.size() < kNotesMax) rank.record.notes.push_back(std::move(note));
}

std::vector<base::HeldName> names_in(const wire::Done& done) {
  std::vector<base::HeldName> names;
  for (const wire::HeldName& name : done.held) {
    if (names.size() < base::kHeldNamesMax) names.push_back({name.path, name.device, name.inode});
  }
  return names;
}

// Phases come in order unless a rank sends nonsense; the first of each counts.
void note_body(RankRecord& rank, wire::Phase phase, Nanoseconds at) {
  const bool began = rank.body_began.count() > 0;
  if (phase == wire::Phase::Body && !began) rank.body_began = at;
  if (phase > wire::Phase::Body && began && rank.body_ended.count() == 0) rank.body_ended = at;
}

}  // namespace

Attempt::Attempt(const RunContext& run, const PlannedTest& test, int n, AttemptKind kind,
                 const Environment& environment)
    : run_(run),
      test_(test),
      ranks_(static_cast<std::size_t>(test.variant.world_size)),
      clocks_(run, test.info, ranks_, [this] { on_alarm(); }),
      started_(clocks_.now()),
      messaging_(test.variant.world_size, [this](int rank, const std::string& why) { on_connection_lost(rank, why); }),
      snapshots_(run, *this, test.is_program()),
      dirs_(run.dirs.take(test.variant.world_size)),
      resources_(run.names, dirs_.get(), environment.private_tmp, test.id),
      environment_(environment),
      over_(run.loop) {
  record_.n = n;
  record_.kind = kind;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    ranks_[i].record.rank = static_cast<int>(i);
    ranks_[i].ran_others = environment.ran_others;
    ranks_[i].shares_process = test.variant.isolation == Isolation::Threads;
  }
  order_ = common_order(test, run.settings, run.run_id, n, *dirs_, *store_, trace_.get());
  order_.stay = environment.stay;
  if (!run.settings.leaks_off) order_.watched = watched_by_ranks(run.names, environment.private_tmp);
}

Attempt::~Attempt() {
  if (environment_.standing != nullptr) environment_.standing->take_back(kept_);
}

io::Task<AttemptRecord> Attempt::run() {
  run_.events.on_attempt_start({test_.id, record_.n, record_.kind, test_.variant.world_size});
  spawn_expected_ = test_.variant.world_size;
  for (RankState& rank : ranks_) enter_phase(rank, wire::Phase::Spawn);
  take_world();
  clocks_.arm();
  co_await over_.wait();
  co_return std::move(record_);
}

// Kept ranks are available at once; new ones arrive one by one.
void Attempt::take_world() {
  launch::WorldSpec spec = spec_of(test_);
  if (environment_.private_tmp != nullptr) spec.space = environment_.private_tmp->space;
  if (environment_.standing == nullptr) {
    if (test_.is_program()) spec.program = program_spec(run_.settings, run_.run_id, dirs_->shared());
    world_ = run_.node.spawn(spec, *this);
    messaging_.use(*world_);
    snapshots_.use(*world_);
    if (test_.is_program() && run_.output != nullptr) gate_.emplace(run_.loop, *run_.output, *world_);
    return;
  }
  const bool there = environment_.standing->serves(spec, test_.info.suite);
  sets_up_suite_ = !there && order_.suite_code && !test_.is_host();
  world_ = environment_.standing->lend(spec, test_.info.suite, *this);
  messaging_.use(*world_);
  snapshots_.use(*world_);
  for (RankState& rank : ranks_) {
    if (!there) break;
    const int number = rank.record.rank;
    on_rank_started(number, environment_.standing->pids()[static_cast<std::size_t>(number)]);
    begin(rank);
  }
}

void Attempt::lose_host(const std::string& why) {
  if (!world_ || state_ != State::Running) return;  // otherwise the attempt is already ending
  record_.lost_host = why;
  const wire::PeerFailed news{-1, why};
  for (const RankState& rank : ranks_) {
    if (rank.ended || rank.done) continue;
    messaging_.send(rank.record.rank, wire::ControlFrame::PeerFailed, news);
  }
  enter(State::Grace, run_.graces.peers);
  check_all_ended();
}

// ---- events of the ranks

void Attempt::on_rank_started(int rank, int pid) {
  --spawn_expected_;
  RankState& state = at(rank);
  state.started = true;
  state.record.pid = pid;
  resources_.add_process(pid);
  state.record.started = age();
  run_.events.on_rank_start(test_.id, record_.n, rank, pid);
  if (state_ == State::Terminating || state_ == State::Killing) {  // too late to be of use
    state.signaled_by_us = true;
    world_->signal(rank, SIGKILL);
  }
}

void Attempt::on_spawn_failed(const std::string& why) {
  spawn_expected_ = 0;
  if (record_.infra_error.empty()) record_.infra_error = why;
  if (state_ == State::Running || state_ == State::Snapshot || state_ == State::Grace) terminate();
  check_all_ended();
}

void Attempt::on_frame(int rank, const wire::Frame& frame) {
  try {
    test_.is_program() ? handle_program(frame) : handle(rank, frame);
  } catch (const Error& error) {
    on_connection_lost(rank, std::string("it sent an invalid message: ") + error.what());
  }
}

void Attempt::handle(int rank, const wire::Frame& frame) {
  switch (frame.kind_as<wire::ControlFrame>()) {
    case wire::ControlFrame::Hello: return on_hello(rank, payload<wire::Hello>(frame));
    case wire::ControlFrame::Phase: return on_phase(rank, payload<wire::PhaseChange>(frame).phase);
    case wire::ControlFrame::Error: return on_error(rank, payload<wire::ErrorReport>(frame));
    case wire::ControlFrame::Skip: at(rank).skip = payload<wire::SkipReport>(frame); return;
    case wire::ControlFrame::Done: return on_done(rank, payload<wire::Done>(frame));
    case wire::ControlFrame::Message: return on_message(rank, payload<wire::RankMessage>(frame));
    case wire::ControlFrame::ReceiveWait: return messaging_.wait_for_message(rank, payload<wire::ReceiveWait>(frame));
    case wire::ControlFrame::ReceiveEnd: return messaging_.end_wait(rank, payload<wire::ReceiveWait>(frame));
    case wire::ControlFrame::BarrierEnter:
      return messaging_.enter_barrier(rank, payload<wire::BarrierEnter>(frame).name);
    case wire::ControlFrame::Leak: return on_leak(rank, payload<wire::LeakReport>(frame));
    case wire::ControlFrame::Note: {
      auto note = payload<wire::Note>(frame);
      return add_note(at(rank), {std::move(note.key), std::move(note.value)});
    }
    default: throw Error(ErrorKind::InvalidArgument, "a rank must not send this kind of frame");
  }
}

void Attempt::on_hello(int rank, const wire::Hello& hello) {
  if (hello.abi != wire::kControlAbi) {
    on_spawn_failed("distrun-rank speaks version " + std::to_string(hello.abi) +
                    " of the control protocol, but distrun speaks " + std::to_string(wire::kControlAbi) +
                    "; they are from different builds");
    return;
  }
  begin(at(rank));
}

void Attempt::begin(RankState& state) {
  const int rank = state.record.rank;
  enter_phase(state, first_phase(test_));
  wire::RunOrder order = order_for(order_, test_, *dirs_, rank);
  order.debug = rank == run_.settings.debug_rank && !test_.is_host();
  messaging_.begin(rank, order);
}

void Attempt::on_phase(int rank, wire::Phase phase) {
  RankState& state = at(rank);
  if (phase > wire::Phase::Exit) throw Error(ErrorKind::InvalidArgument, "an unknown phase");
  if (phase == wire::Phase::SetUp && !test_.info.has_fixture) phase = wire::Phase::Body;
  enter_phase(state, phase);
}

void Attempt::on_error(int rank, wire::ErrorReport report) {
  if (report.type == wire::kCannotBegin) return on_spawn_failed("rank " + std::to_string(rank) + " " + report.text);
  RankState& state = at(rank);
  RankError error;
  error.type = std::move(report.type);
  error.text = std::move(report.text);
  error.file = std::move(report.file);
  error.line = report.line;
  error.stack = std::move(report.stack);
  error.ended_body = report.ends_body;
  error.because_of = report.because_of;
  const std::size_t index = state.record.errors.size();
  add_error(rank, std::move(error));
  if (state.record.errors.size() > index) snapshots_.name_throw(rank, index, std::move(report.thrown_at));
  if (!report.ends_body || state.decided()) return;
  state.record.because_of = report.because_of == rank ? -1 : report.because_of;
  fail(state, {OutcomeKind::Failed, 0, ""});
}

void Attempt::on_done(int rank, const wire::Done& done) {
  if (test_.is_host()) take_suite_settings(done);
  resources_.add_held(names_in(done));
  RankState& state = at(rank);
  state.done = true;
  state.done_passed = done.passed;
  state.used_up = done.used_up;
  state.record.checks = done.checks;
  state.record.body_passed = done.passed && state.record.errors.empty() && !test_.is_host();
  enter_phase(state, wire::Phase::Exit);
  // After a failure, the other ranks are released by its news instead.
  if (state_ == State::Running && held_.empty()) messaging_.leave(rank, state.record.declared_death);
  if (stays(state)) return settle(state);
  settle_held();
}

void Attempt::take_suite_settings(const wire::Done& done) {
  std::size_t bytes = 0;
  for (const wire::KeyValue& setting : done.suite_settings) bytes += setting.key.size() + setting.value.size();
  if (done.suite_settings.size() > wire::kSuiteSettingsMax || bytes > wire::kSuiteSettingsBytesMax) {
    throw Error(ErrorKind::InvalidArgument, "more settings than a host may set");
  }
  suite_settings_ = done.suite_settings;
}

void Attempt::on_message(int rank, wire::RankMessage message) {
  const std::string what = "a message \"" + message.tag + "\" to rank " + std::to_string(message.to);
  try {
    messaging_.pass_on(rank, std::move(message));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::InvalidArgument) throw;
    RankError dropped;
    dropped.type = "Overloaded";
    dropped.text = what + " was dropped: " + error.what();
    dropped.ended_body = false;
    add_error(rank, std::move(dropped));
  }
}

// A change that a test has made to its process, or what it left running, is a note, and a leak only in strict runs: a
// process that is kept is restored first, and gets no further test while something runs.
void Attempt::on_leak(int rank, const wire::LeakReport& leak) {
  if (leak.state && !run_.settings.leaks_strict) {
    return add_note(at(rank), {leak.thread ? "left running" : "left changed", leak.what});
  }
  if (record_.leaks.size() >= kLeaksMax) return;
  const LeakKind kind = leak.thread ? LeakKind::Thread : leak.state ? LeakKind::State : LeakKind::Descriptor;
  record_.leaks.push_back({kind, "of rank " + std::to_string(rank) + ": " + leak.what, true});
}

void Attempt::on_connection_lost(int rank, const std::string& why) {
  RankState& state = at(rank);
  if (state.ended || state.done || state.decided()) return;
  state.record.outcome.text = why == "closed" ? "it closed its connection to distrun but kept running" : why;
  // The connection of a dying rank closes just before its end is reported; only a rank that lives on is lost.
  clocks_.begin_loss(state, why == "closed" ? run_.graces.connection : Nanoseconds::zero());
}

void Attempt::on_rank_ended(int rank, proc::ExitStatus status, int because_of) {
  if (state_ == State::Over) return;  // a kept rank: its end is reported with those of the idle ranks
  RankState& state = at(rank);
  state.ended = true;
  state.settled = false;
  state.record.ended = age();
  find_stray(state);
  const bool dragged = because_of >= 0 && !state.done;  // another rank has ended this thread's process
  if (!dragged) {
    state.record.exit_code = status.exited() ? status.code() : -1;
    state.record.signal = status.signal();
  } else if (!state.decided()) {
    state.record.because_of = because_of;
  }
  Outcome outcome = dragged ? Outcome{OutcomeKind::Lost, 0, describe_dragged(rank, because_of)}
                            : outcome_of_ended(state, because_of >= 0 ? proc::ExitStatus::of_code(0) : status);
  if (is_failure(outcome) && ends_for_all(state)) outcome = end_for_all(state, outcome);
  state.record.declared_death = is_declared(test_.info.may_die, rank, outcome);
  if (test_.is_program() && outcome.kind == OutcomeKind::Passed) enter_phase(state, wire::Phase::Exit);
  if (state.decided()) {
    // The outcome was decided before and stands.
  } else if (is_failure(outcome) && !state.record.declared_death) {
    fail(state, outcome);
  } else {
    state.record.outcome = outcome;
    if (outcome.kind == OutcomeKind::KilledByUs) state.record.because_of = first_failed_;
    decide(state);
    if (state.record.declared_death) tell_declared_death(rank);
  }
  settle_held();
  if (!state.done && state_ == State::Running && held_.empty()) messaging_.leave(rank, state.record.declared_death);
  run_.events.on_rank_end(test_.id, record_.n, state.record);
  const bool has_exited = state.record.outcome.kind == OutcomeKind::Exited;
  if (state.record.signal != 0 || dragged || has_exited) snapshots_.name_crash(state.record);
  check_all_ended();
}

Outcome Attempt::outcome_of_ended(const RankState& rank, proc::ExitStatus status) const {
  return test_.is_program() ? outcome_of_program(rank, status) : outcome_at_end(rank, status, test_.info.may_die);
}

// After exit(), handlers have destroyed what the process's other ranks still use; their crash follows from that.
std::string Attempt::describe_dragged(int rank, int because_of) const {
  const std::string cause = "rank " + std::to_string(because_of);
  const auto dump = world_->crash(rank);
  if (!dump || dump->signal == 0 || dump->rank != rank) return "its process ended with " + cause;
  return "it crashed by signal " + std::to_string(dump->signal) + " (" + base::signal_name(dump->signal) + ") after " +
         cause + " had called exit()";
}

void Attempt::enter_phase(RankState& rank, wire::Phase phase) {
  if (!rank.decided()) rank.record.phase = phase;  // the report needs the phase in which it went wrong
  note_body(rank.record, phase, age());
  if (phase != wire::Phase::Spawn) run_.events.on_rank_phase(test_.id, record_.n, rank.record.rank, phase);
  clocks_.begin_phase(rank, phase);
}

// ---- snapshots

std::vector<RankView> Attempt::views() const {
  std::vector<RankView> views;
  for (const RankState& rank : ranks_) {
    if (!rank.alive()) continue;
    RankView& view = views.emplace_back(RankView{rank.record.rank, world_->shown(rank.record.rank)});
    if (view.shown) messaging_.drop_ended_waits(view.rank, *view.shown);
  }
  return views;
}

bool Attempt::take_snapshot(SnapshotKind kind, Snapshots::OnSnapshot on_snapshot) {
  if (!world_ || is_over()) return false;
  snapshots_.take(kind, run_.graces.evidence, std::move(on_snapshot));
  return true;
}

// Keeps up to kSnapshotsMax snapshots; kinds that occur once per attempt are always kept.
void Attempt::add_snapshot(Snapshot snapshot) {
  run_.events.on_snapshot(test_.id, record_.n, snapshot);
  if (snapshot.kind == SnapshotKind::Timeout) note_waits(snapshot);
  const bool is_only_one = snapshot.kind == SnapshotKind::Timeout || snapshot.kind == SnapshotKind::Exception;
  if (record_.snapshots.size() < kSnapshotsMax || is_only_one) record_.snapshots.push_back(std::move(snapshot));
}

void Attempt::add_error(int rank, RankError error) {
  RankState& state = at(rank);
  error.at = age();
  if (!state.first_error_in) state.first_error_in = state.record.phase;
  run_.events.on_rank_error(test_.id, record_.n, rank, error);
  if (state.record.errors.size() < kErrorsMax || error.ended_body) state.record.errors.push_back(std::move(error));
}

RankError* Attempt::find_error(int rank, std::size_t index) {
  std::vector<RankError>& errors = at(rank).record.errors;
  return index < errors.size() ? &errors[index] : nullptr;
}

void Attempt::on_snapshot_over(SnapshotKind kind) {
  check_all_ended();
  if ((kind == SnapshotKind::Timeout || kind == SnapshotKind::Asked) && state_ == State::Snapshot) move_on();
}

void Attempt::let_go() {
  const int rank = run_.settings.debug_rank;
  if (rank < 0 || rank >= static_cast<int>(ranks_.size()) || !at(rank).alive()) return;
  messaging_.send(rank, wire::ControlFrame::Finish);
}

}  // namespace distrun::runner
