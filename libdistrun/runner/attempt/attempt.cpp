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

constexpr std::size_t kErrorsMax = 100;  // kept of each rank
constexpr std::size_t kNotesMax = 1000;
constexpr std::size_t kLeaksMax = 1000;  // told by ranks

// What a process does first with an order.
wire::Phase first_phase(const PlannedTest& test) {
  if (test.host == wire::HostWork::TearDown) return wire::Phase::TearDown;
  if (test.variant.isolation == "exec") return wire::Phase::Load;
  return test.info.has_fixture ? wire::Phase::SetUp : wire::Phase::Body;
}

template <class T>
T payload(const wire::Frame& frame) {
  return wire::decode<T>(wire::view_of(frame.payload));
}

void add_note(RankState& rank, wire::KeyValue note) {
  if (rank.record.notes.size() < kNotesMax) rank.record.notes.push_back(std::move(note));
}

// Of what ranks see as everybody does.
std::vector<wire::WatchedDirectory> watched_by_ranks(const NameWatch& names, const Ground& ground) {
  std::vector<std::string> unseen;
  if (ground.private_tmp != nullptr) unseen = private_directories();
  std::vector<wire::WatchedDirectory> watched;
  for (const proc::LeakScan::Watched& each : names.watched()) {
    if (std::find(unseen.begin(), unseen.end(), each.directory) != unseen.end()) continue;
    watched.push_back({each.directory, each.modified_ns});
  }
  return watched;
}

std::vector<base::HeldName> names_in(const wire::Done& done) {
  std::vector<base::HeldName> names;
  for (const wire::HeldName& name : done.held) {
    if (names.size() < base::kHeldNamesMax) names.push_back({name.path, name.device, name.inode});
  }
  return names;
}

// Phases come in order, but for what a rank makes up: the first of each counts.
void note_body(RankRecord& rank, wire::Phase phase, Nanoseconds at) {
  const bool began = rank.body_began.count() > 0;
  if (phase == wire::Phase::Body && !began) rank.body_began = at;
  if (phase > wire::Phase::Body && began && rank.body_ended.count() == 0) rank.body_ended = at;
}

}  // namespace

Attempt::Attempt(const RunContext& run, const PlannedTest& test, int n, AttemptKind kind, const Ground& ground)
    : run_(run),
      test_(test),
      started_(run.loop.clock().now()),
      ranks_(static_cast<std::size_t>(test.variant.world_size)),
      barriers_(test.variant.world_size),
      dirs_(run.dirs.take(test.variant.world_size)),
      belongings_(run.names, dirs_.get(), ground.private_tmp, test.id),
      ground_(ground),
      alarm_(run.loop, [this] { on_alarm(); }),
      over_(run.loop) {
  record_.n = n;
  record_.kind = kind;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    ranks_[i].record.rank = static_cast<int>(i);
    ranks_[i].shares_process = test.variant.isolation == "threads";
  }
  order_ = common_order(test, run.settings, run.run_id, n, *dirs_);
  order_.stay = ground.stay;
  if (!run.settings.leaks_off) order_.watched = watched_by_ranks(run.names, ground);
}

Attempt::~Attempt() {
  if (ground_.standing != nullptr) ground_.standing->take_back(kept_);
}

io::Task<AttemptRecord> Attempt::run() {
  run_.events.on_attempt_start({test_.id, record_.n, record_.kind, test_.variant.world_size});
  spawn_expected_ = test_.variant.world_size;
  for (RankState& rank : ranks_) enter_phase(rank, wire::Phase::Spawn);
  take_world();
  arm();
  co_await over_.wait();
  co_return std::move(record_);
}

// Ranks that have stayed are here at once; others come one by one.
void Attempt::take_world() {
  launch::WorldSpec spec = spec_of(test_);
  if (ground_.private_tmp != nullptr) spec.space = ground_.private_tmp->space;
  if (ground_.standing == nullptr) {
    if (test_.is_program()) spec.program = program_spec(run_.settings, run_.run_id, dirs_->shared());
    world_ = run_.node.spawn(spec, *this);
    if (test_.is_program() && run_.output != nullptr) gate_.emplace(run_.loop, *run_.output, *world_);
    return;
  }
  const bool there = ground_.standing->serves(spec, test_.info.suite);
  world_ = ground_.standing->lend(spec, test_.info.suite, *this);
  for (RankState& rank : ranks_) {
    if (!there) break;
    const int number = rank.record.rank;
    on_rank_started(number, ground_.standing->pids()[static_cast<std::size_t>(number)]);
    begin(rank);
  }
}

void Attempt::cancel(Urgency urgency) {
  if (!world_ || state_ == State::Sweeping || state_ == State::Over) return;
  record_.cancelled = true;
  if (state_ == State::Running || state_ == State::Looking || state_ == State::Grace) terminate();
  if (urgency == Urgency::AtOnce && state_ == State::Terminating) kill();
}

void Attempt::lose_host(const std::string& why) {
  if (!world_ || state_ != State::Running) return;  // else it has an end of its own already
  record_.lost_host = why;
  const wire::PeerFailed news{-1, why};
  for (const RankState& rank : ranks_) {
    if (rank.ended || rank.done) continue;
    send(rank.record.rank, wire::pack(wire::FrameKind::PeerFailed, static_cast<std::uint16_t>(rank.record.rank), news));
  }
  enter(State::Grace, run_.graces.peers);
  check_all_ended();
}

// ---- what ranks do

void Attempt::on_rank_started(int rank, int pid) {
  --spawn_expected_;
  RankState& state = at(rank);
  state.started = true;
  state.record.pid = pid;
  belongings_.add_process(pid);
  state.record.started = since_start();
  run_.events.on_rank_start(test_.id, record_.n, rank, pid);
  if (state_ == State::Terminating || state_ == State::Killing) {  // it came too late to be of use
    state.signaled_by_us = true;
    world_->signal(rank, SIGKILL);
  }
}

void Attempt::on_spawn_failed(const std::string& why) {
  spawn_expected_ = 0;
  if (record_.infra_error.empty()) record_.infra_error = why;
  if (state_ == State::Running || state_ == State::Looking || state_ == State::Grace) terminate();
  check_all_ended();
}

void Attempt::on_frame(int rank, const wire::Frame& frame) {
  try {
    test_.is_program() ? handle_program(frame) : handle(rank, frame);
  } catch (const Error& error) {
    on_connection_lost(rank, std::string("it sent what is no message: ") + error.what());
  }
}

void Attempt::handle(int rank, const wire::Frame& frame) {
  switch (frame.kind) {
    case wire::FrameKind::Hello: return on_hello(rank, payload<wire::Hello>(frame));
    case wire::FrameKind::Phase: return on_phase(rank, payload<wire::PhaseChange>(frame).phase);
    case wire::FrameKind::Error: return on_error(rank, payload<wire::ErrorReport>(frame));
    case wire::FrameKind::Skip: at(rank).skip = payload<wire::SkipReport>(frame); return;
    case wire::FrameKind::Done: return on_done(rank, payload<wire::Done>(frame));
    case wire::FrameKind::Message: return on_message(rank, payload<wire::RankMessage>(frame));
    case wire::FrameKind::ReceiveWait: return on_receive_wait(rank, payload<wire::ReceiveWait>(frame));
    case wire::FrameKind::ReceiveEnd: return receives_.end(rank, payload<wire::ReceiveWait>(frame));
    case wire::FrameKind::BarrierEnter:
      if (const auto release = barriers_.enter(rank, payload<wire::BarrierEnter>(frame).name)) this->release(*release);
      return;
    case wire::FrameKind::Leak: return on_leak(rank, payload<wire::LeakReport>(frame));
    case wire::FrameKind::Note: {
      auto note = payload<wire::Note>(frame);
      return add_note(at(rank), {std::move(note.key), std::move(note.value)});
    }
    default: throw Error(ErrorKind::InvalidArgument, "a rank does not send this kind of frame");
  }
}

// A program that begins says nothing.
void Attempt::handle_program(const wire::Frame& frame) {
  if (frame.kind != wire::FrameKind::Error) throw Error(ErrorKind::InvalidArgument, "a program sends no frames");
  on_spawn_failed(payload<wire::ErrorReport>(frame).text);
}

// Nothing has begun if an error came before.
void Attempt::on_program(int rank) {
  if (record_.infra_error.empty()) enter_phase(at(rank), wire::Phase::Body);
}

void Attempt::on_output(int rank, launch::Stream stream, std::string_view bytes) {
  if (gate_) gate_->on_output(rank, stream, bytes);
}

void Attempt::on_hello(int rank, const wire::Hello& hello) {
  if (hello.abi != wire::kControlAbi) {
    on_spawn_failed("distrun-rank speaks version " + std::to_string(hello.abi) + " of the control protocol, distrun " +
                    std::to_string(wire::kControlAbi) + ": they are of different builds");
    return;
  }
  begin(at(rank));
}

void Attempt::begin(RankState& state) {
  const int rank = state.record.rank;
  enter_phase(state, first_phase(test_));
  // The order goes first, whatever other ranks have sent to this one already.
  state.ordered = true;
  wire::RunOrder order = order_for(order_, test_, *dirs_, rank);
  order.debug = rank == run_.settings.debug_rank && !test_.is_host();
  send(rank, wire::pack(wire::FrameKind::Run, static_cast<std::uint16_t>(rank), order));
  for (wire::Bytes& frame : state.held_back) send(rank, std::move(frame));
  state.held_back.clear();
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
  add_error(state, std::move(error));
  if (state.record.errors.size() > index) name_throw(rank, index, std::move(report.thrown_at));
  if (!report.ends_body || state.decided()) return;
  state.record.because_of = root_cause(report.because_of);
  fail(state, {OutcomeKind::Failed, 0, ""});
}

void Attempt::on_done(int rank, const wire::Done& done) {
  if (test_.is_host()) take_suite_settings(done);
  belongings_.add_held(names_in(done));
  RankState& state = at(rank);
  state.done = true;
  state.done_passed = done.passed;
  state.used_up = done.used_up;
  state.record.checks = done.checks;
  state.record.body_passed = done.passed && state.record.errors.empty() && !test_.is_host();
  enter_phase(state, wire::Phase::Exit);
  leave_desks(state);
  if (stays(state)) settle(state);
}

// A host that could not set its suite up ends; threads end together.
bool Attempt::stays(const RankState& rank) const {
  return order_.threads || (order_.stay && (rank.done_passed || !test_.is_host()));
}

void Attempt::take_suite_settings(const wire::Done& done) {
  std::size_t bytes = 0;
  for (const wire::KeyValue& setting : done.suite_settings) bytes += setting.key.size() + setting.value.size();
  if (done.suite_settings.size() > wire::kSuiteSettingsMax || bytes > wire::kSuiteSettingsBytesMax) {
    throw Error(ErrorKind::InvalidArgument, "more settings than a host may set");
  }
  suite_settings_ = done.suite_settings;
}

// What a test has changed of its process is news, and only to a strict run a leak: a process that stays gets it back.
void Attempt::on_leak(int rank, const wire::LeakReport& leak) {
  if (leak.state && !run_.settings.leaks_strict) return add_note(at(rank), {"left changed", leak.what});
  if (record_.leaks.size() >= kLeaksMax) return;
  const LeakKind kind = leak.state ? LeakKind::State : leak.thread ? LeakKind::Thread : LeakKind::Descriptor;
  record_.leaks.push_back({kind, "of rank " + std::to_string(rank) + ": " + leak.what, true});
}

void Attempt::on_connection_lost(int rank, const std::string& why) {
  RankState& state = at(rank);
  if (state.ended || state.done || state.decided()) return;
  state.record.outcome.text = why == "closed" ? "it closed its connection to distrun and went on" : why;
  // A dying rank's connection closes just before its end is told: only one that lives on is lost.
  state.lost_at = run_.loop.clock().now() + (why == "closed" ? run_.graces.connection : Nanoseconds::zero());
  arm();
}

void Attempt::on_rank_ended(int rank, proc::ExitStatus status, int because_of) {
  if (state_ == State::Over) return;  // one that was kept: it is told with the ranks that wait
  RankState& state = at(rank);
  state.ended = true;
  state.settled = false;
  state.record.ended = since_start();
  find_stray(state);
  const bool dragged = because_of >= 0 && !state.done;  // a thread of the process that another one has ended
  if (!dragged) {
    state.record.exit_code = status.exited() ? status.code() : -1;
    state.record.signal = status.signal();
  } else if (!state.decided()) {
    state.record.because_of = because_of;
  }
  const Outcome outcome =
      dragged ? Outcome{OutcomeKind::Lost, 0, describe_dragged(rank, because_of)}
              : outcome_of_ended(state, because_of >= 0 ? proc::ExitStatus::of_code(0) : status);
  state.record.declared_death = is_declared(test_.info.may_die, rank, outcome);
  if (test_.is_program() && outcome.kind == OutcomeKind::Passed) enter_phase(state, wire::Phase::Exit);
  if (state.decided()) {
    // Its outcome stands.
  } else if (is_failure(outcome) && !state.record.declared_death) {
    fail(state, outcome);
  } else {
    state.record.outcome = outcome;
    if (outcome.kind == OutcomeKind::KilledByUs) state.record.because_of = first_failed_;
    decide(state);
  }
  if (!state.done) leave_desks(state);
  run_.events.on_rank_end(test_.id, record_.n, state.record);
  if (state.record.signal != 0 || dragged) name_crash(state);
  check_all_ended();
}

Outcome Attempt::outcome_of_ended(const RankState& rank, proc::ExitStatus status) const {
  return test_.is_program() ? outcome_of_program(rank, status) : outcome_at_end(rank, status);
}

// ---- bookkeeping

void Attempt::enter_phase(RankState& rank, wire::Phase phase) {
  if (!rank.decided()) rank.record.phase = phase;  // a report wants the phase in which it went wrong
  note_body(rank.record, phase, since_start());
  rank.deadline = run_.loop.clock().now() + bound_of(phase, test_.info, run_.settings);
  if (phase != wire::Phase::Spawn) run_.events.on_rank_phase(test_.id, record_.n, rank.record.rank, phase);
  if (phase == wire::Phase::Body && run_.settings.stacks_after.count() > 0 && !timed_look_) {
    timed_look_ = true;
    slow_at_ = run_.loop.clock().now() + run_.settings.stacks_after;
    if (slow_at_ < state_deadline_) arm();
  }
  // The alarm stands for the earliest deadline; a later one need not move it.
  if (phase != wire::Phase::Spawn && rank.deadline < state_deadline_) arm();
}

void Attempt::add_error(RankState& rank, RankError error) {
  error.at = since_start();
  run_.events.on_rank_error(test_.id, record_.n, rank.record.rank, error);
  if (rank.record.errors.size() < kErrorsMax || error.ended_body) rank.record.errors.push_back(std::move(error));
}

void Attempt::decide(RankState& rank) { rank.record.decided = ++decisions_; }

void Attempt::fail(RankState& rank, const Outcome& outcome) {
  rank.record.outcome = outcome;
  rank.record.waiting_in = waiting_in(rank.record.rank);
  decide(rank);
  if (first_failed_ < 0) first_failed_ = rank.record.rank;
  if (state_ != State::Running) return;
  tell_peers(rank);
  enter(State::Grace, run_.graces.peers);
}

// A rank that failed because of one that failed because of another: the report wants the last.
int Attempt::root_cause(int rank) const {
  const int count = static_cast<int>(ranks_.size());
  for (int steps = 0; steps < count && rank >= 0 && rank < count; ++steps) {
    const int next = ranks_[static_cast<std::size_t>(rank)].record.because_of;
    if (next < 0) break;
    rank = next;
  }
  return rank;
}

}  // namespace distrun::runner
