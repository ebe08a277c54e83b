#include <distrun/runner/attempt/rank_events.hpp>

#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/common/wire/frame.hpp>
#include <distrun/runner/mpi/server.hpp>

namespace distrun::runner {
namespace {

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

std::vector<base::HeldName> names_in(const wire::Done& done) {
  std::vector<base::HeldName> names;
  for (const wire::HeldName& name : done.held) {
    if (names.size() < base::kHeldNamesMax) names.push_back({name.path, name.device, name.inode});
  }
  return names;
}

}  // namespace

void RankEvents::on_rank_started(int rank, int pid) {
  provisions_.add_process(pid);
  if (ranks_.mpi != nullptr) ranks_.mpi->add_process(rank, pid);
  const launch::Spread* const spread = ranks_.world->spread();
  if (spread != nullptr) ranks_.at(rank).record.host = spread->host_of.at(static_cast<std::size_t>(rank));
  ranks_.log.add_start(ranks_.at(rank), pid);
  course_.add_started(ranks_.at(rank));
}

// It is not known what the lost ranks did last; what the others do then only follows from it.
void RankEvents::on_host_lost(const std::vector<int>& ranks, const std::string& why) {
  if (course_.state() == Course::State::Over) return;
  bool has_living = false;
  for (const int rank : ranks) {
    RankState& state = ranks_.at(rank);
    has_living = has_living || !state.ended;
    if (state.ended || state.decided()) continue;
    state.record.outcome = {OutcomeKind::Lost, 0, why};
    course_.failures().decide(state);
  }
  if (has_living) on_spawn_failed(why);
}

void RankEvents::on_stray_child(int rank) {
  if (course_.is_running()) course_.strays().find(ranks_.at(rank));
}

// A program that starts normally sends nothing.
void RankEvents::handle_program(int rank, const wire::Frame& frame) {
  if (!frame.is(wire::ControlFrame::Error)) throw Error(ErrorKind::InvalidArgument, "a program must not send frames");
  const std::string& host = ranks_.at(rank).record.host;
  on_spawn_failed(payload<wire::ErrorReport>(frame).text + (host.empty() ? "" : " (on " + host + ")"));
}

void RankEvents::on_frame(int rank, const wire::Frame& frame) {
  try {
    ranks_.test.is_program() ? handle_program(rank, frame) : handle(rank, frame);
  } catch (const Error& error) {
    on_connection_lost(rank, std::string("it sent an invalid message: ") + error.what());
  }
}

void RankEvents::handle(int rank, const wire::Frame& frame) {
  switch (frame.kind_as<wire::ControlFrame>()) {
    case wire::ControlFrame::Hello: return on_hello(rank, payload<wire::Hello>(frame));
    case wire::ControlFrame::Phase: return on_phase(rank, payload<wire::PhaseChange>(frame).phase);
    case wire::ControlFrame::Error: return on_error(rank, payload<wire::ErrorReport>(frame));
    case wire::ControlFrame::Skip: ranks_.at(rank).skip = payload<wire::SkipReport>(frame); return;
    case wire::ControlFrame::Done: return on_done(rank, payload<wire::Done>(frame));
    case wire::ControlFrame::Message: return on_message(rank, payload<wire::RankMessage>(frame));
    case wire::ControlFrame::ReceiveWait:
      return ranks_.messaging.wait_for_message(rank, payload<wire::ReceiveWait>(frame));
    case wire::ControlFrame::ReceiveEnd: return ranks_.messaging.end_wait(rank, payload<wire::ReceiveWait>(frame));
    case wire::ControlFrame::BarrierEnter:
      return ranks_.messaging.enter_barrier(rank, payload<wire::BarrierEnter>(frame).name);
    case wire::ControlFrame::Leak: return ranks_.log.add_leak(rank, payload<wire::LeakReport>(frame));
    case wire::ControlFrame::Note: {
      auto note = payload<wire::Note>(frame);
      return ranks_.log.add_note(rank, {std::move(note.key), std::move(note.value)});
    }
    case wire::ControlFrame::Measure: return ranks_.log.add_measure(rank, payload<wire::Measure>(frame));
    default: throw Error(ErrorKind::InvalidArgument, "a rank must not send this kind of frame");
  }
}

void RankEvents::on_hello(int rank, const wire::Hello& hello) {
  if (hello.abi != wire::kControlAbi) {
    on_spawn_failed("distrun-rank speaks version " + std::to_string(hello.abi) +
                    " of the control protocol, but distrun speaks " + std::to_string(wire::kControlAbi) +
                    "; they are from different builds");
    return;
  }
  begin(ranks_.at(rank));
}

void RankEvents::begin(RankState& state) {
  const int rank = state.record.rank;
  ranks_.log.enter_phase(state, first_phase(ranks_.test));
  ranks_.messaging.begin(rank, provisions_.order_of(rank, *ranks_.world));
}

void RankEvents::on_phase(int rank, wire::Phase phase) {
  RankState& state = ranks_.at(rank);
  if (phase > wire::Phase::Exit) throw Error(ErrorKind::InvalidArgument, "an unknown phase");
  if (phase == wire::Phase::SetUp && !ranks_.test.info.has_fixture) phase = wire::Phase::Body;
  ranks_.log.enter_phase(state, phase);
}

void RankEvents::on_error(int rank, wire::ErrorReport report) {
  if (report.type == wire::kCannotBegin) return on_spawn_failed(ranks_.hosts().label(rank) + " " + report.text);
  RankState& state = ranks_.at(rank);
  RankError error;
  error.type = std::move(report.type);
  error.text = std::move(report.text);
  error.file = std::move(report.file);
  error.line = report.line;
  error.stack = std::move(report.stack);
  error.ended_body = report.ends_body;
  error.because_of = report.because_of;
  const std::size_t index = state.record.errors.size();
  ranks_.log.add_error(rank, std::move(error));
  if (state.record.errors.size() > index) course_.snapshots().name_throw(rank, index, std::move(report.thrown_at));
  if (!report.ends_body || state.decided()) return;
  state.record.because_of = report.because_of == rank ? -1 : report.because_of;
  course_.failures().fail(state, {OutcomeKind::Failed, 0, ""});
}

void RankEvents::on_done(int rank, const wire::Done& done) {
  if (ranks_.test.is_host()) take_suite_settings(done);
  provisions_.add_held(names_in(done));
  RankState& state = ranks_.at(rank);
  state.done = true;
  state.done_passed = done.passed;
  state.used_up = done.used_up;
  state.record.checks = done.checks;
  state.record.body_passed = done.passed && state.record.errors.empty() && !ranks_.test.is_host();
  ranks_.log.enter_phase(state, wire::Phase::Exit);
  // After a failure, the other ranks are released by its news instead.
  if (may_leave()) ranks_.messaging.leave(rank, state.record.declared_death);
  if (conclusion_.stays(state)) return conclusion_.settle(state);
  course_.failures().settle();
}

void RankEvents::take_suite_settings(const wire::Done& done) {
  std::size_t bytes = 0;
  for (const wire::KeyValue& setting : done.suite_settings) bytes += setting.key.size() + setting.value.size();
  if (done.suite_settings.size() > wire::kSuiteSettingsMax || bytes > wire::kSuiteSettingsBytesMax) {
    throw Error(ErrorKind::InvalidArgument, "more settings than a host may set");
  }
  suite_settings_ = done.suite_settings;
}

void RankEvents::on_message(int rank, wire::RankMessage message) {
  const int to = message.to;
  const std::string tag = message.tag;
  try {
    ranks_.messaging.pass_on(rank, std::move(message));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::InvalidArgument) throw;
    RankError dropped;
    dropped.type = "Overloaded";
    dropped.text = "a message \"" + tag + "\" to " + ranks_.hosts().label(to) + " was dropped: " + error.what();
    dropped.ended_body = false;
    ranks_.log.add_error(rank, std::move(dropped));
  }
}

void RankEvents::on_rank_ended(int rank, proc::ExitStatus status, int because_of) {
  if (course_.state() == Course::State::Over) return;  // a kept rank: its end is reported with those of the idle ranks
  if (ranks_.mpi != nullptr) ranks_.mpi->drain();      // it may say why
  RankState& state = ranks_.at(rank);
  state.ended = true;
  state.settled = false;
  state.record.ended = ranks_.log.age();
  course_.strays().find(state);
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
  state.record.declared_death = is_declared(ranks_.test.info.may_die, rank, outcome);
  if (ranks_.test.is_program() && outcome.kind == OutcomeKind::Passed) ranks_.log.enter_phase(state, wire::Phase::Exit);
  if (state.decided()) {
    // The outcome was decided before and stands.
  } else if (is_failure(outcome) && !state.record.declared_death) {
    course_.failures().fail(state, outcome);
  } else {
    state.record.outcome = outcome;
    if (outcome.kind == OutcomeKind::KilledByUs) state.record.because_of = course_.failures().first();
    course_.failures().decide(state);
    if (state.record.declared_death) course_.failures().tell_declared_death(rank);
  }
  course_.failures().settle();
  if (!state.done && may_leave()) ranks_.messaging.leave(rank, state.record.declared_death);
  ranks_.log.tell_end(state);
  const bool has_exited = state.record.outcome.kind == OutcomeKind::Exited;
  if (state.record.signal != 0 || dragged || has_exited) course_.snapshots().name_crash(state.record);
  course_.check_all_idle();
}

Outcome RankEvents::outcome_of_ended(const RankState& rank, proc::ExitStatus status) const {
  return ranks_.test.is_program() ? outcome_of_program(rank, status)
                                  : outcome_at_end(rank, status, ranks_.test.info.may_die);
}

// After exit(), handlers have destroyed what the process's other ranks still use; their crash follows from that.
std::string RankEvents::describe_dragged(int rank, int because_of) const {
  const std::string cause = ranks_.hosts().label(because_of);
  const auto dump = ranks_.world->crash(rank);
  if (!dump || dump->signal == 0 || dump->rank != rank) return "its process ended with " + cause;
  return "it crashed by signal " + std::to_string(dump->signal) + " (" + base::signal_name(dump->signal) + ") after " +
         cause + " had called exit()";
}

}  // namespace distrun::runner
