#include <distrun/runner/attempt/attempt.hpp>

#include <utility>

#include <distrun/runner/attempt/attempt_trace.hpp>
#include <distrun/runner/attempt/make_provisions.hpp>

namespace distrun::runner {

Attempt::Attempt(const RunContext& run, const PlannedTest& test, int n, AttemptKind kind,
                 const Environment& environment)
    : environment_(environment),
      ranks_(run, test, n, kind, environment, [this] { course_.on_alarm(); }),
      provisions_(make_provisions(run, test, n, environment)),
      course_(ranks_, [this](bool any_alive) { conclusion_.on_idle(any_alive); }),
      conclusion_(ranks_, *provisions_, course_, environment.standing, [this] { over_.set(true); }),
      programs_(ranks_),
      mpi_ranks_(ranks_, course_),
      events_(ranks_, *provisions_, course_, conclusion_, programs_),
      over_(run.loop) {}

Attempt::~Attempt() {
  if (environment_.standing != nullptr) environment_.standing->take_back(conclusion_.has_kept());
}

io::Task<AttemptRecord> Attempt::run() {
  ranks_.log.tell_start();
  course_.begin();
  environment_.standing == nullptr ? start_world() : borrow_world();
  ranks_.clocks.arm();
  co_await over_.wait();
  programs_.hide_output();
  co_return std::move(ranks_.log.record());
}

launch::WorldSpec Attempt::world_spec() const {
  launch::WorldSpec spec = spec_of(test());
  if (environment_.cpus != nullptr) spec.lane = environment_.cpus->lane();
  spec.trace_records = trace_records(ranks_.run, test());
  if (environment_.private_tmp != nullptr) spec.space = environment_.private_tmp->space;
  return spec;
}

// The ranks arrive one by one.
void Attempt::start_world() {
  launch::WorldSpec spec = world_spec();
  if (test().is_program()) spec.program = provisions_->program();
  spec.wrappers = provisions_->wrappers();
  world_ = ranks_.run.node.spawn(spec, events_);
  ranks_.use(*world_);
  programs_.show_output(*world_);
}

// Kept ranks are available at once; new ones arrive one by one.
void Attempt::borrow_world() {
  StandingWorld& standing = *environment_.standing;
  const launch::WorldSpec spec = world_spec();
  const bool there = standing.serves(spec, test().info.suite);
  if (!there && provisions_->order().suite_code && !test().is_host()) conclusion_.hold_for_suite();
  world_ = standing.lend(spec, test().info.suite, events_);
  ranks_.use(*world_);
  programs_.show_output(*world_);
  for (RankState& rank : ranks_.all) {
    if (!there) break;
    const int number = rank.record.rank;
    events_.on_rank_started(number, standing.pids()[static_cast<std::size_t>(number)]);
    events_.begin(rank);
  }
}

void Attempt::let_go() {
  const int rank = ranks_.run.settings.debug_rank;
  if (ranks_.has(rank) && ranks_.at(rank).alive()) ranks_.messaging.send(rank, wire::ControlFrame::Finish);
}

}  // namespace distrun::runner
