#include <distrun/runner/run/suite_host.hpp>

#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/record/describe.hpp>
#include <distrun/runner/record/judge.hpp>
#include <distrun/runner/run/host_events.hpp>

namespace distrun::runner {
namespace {

constexpr std::size_t kMessageMax = 1000;

PlannedTest task_of(const PlannedTest& test) {
  PlannedTest task;
  task.info.suite = test.info.suite;
  task.info.has_fixture = true;
  task.plugin = test.plugin;
  task.variant = test.variant;
  task.variant.world_size = 1;
  if (task.variant.isolation == Isolation::Threads)
    task.variant.isolation = Isolation::Pool;  // one process, forked if possible
  return task;
}

const char* name_of(wire::HostWork work) {
  return work == wire::HostWork::SetUp ? "the suite's set-up" : "the suite's tear-down";
}

std::string message_of(const AttemptRecord& attempt, wire::HostWork work) {
  if (is_good(attempt.verdict) || attempt.cancelled) return attempt.message;
  const std::string failed = std::string(name_of(work)) + " failed: ";
  if (!attempt.infra_error.empty() || attempt.ranks.empty()) return failed + attempt.message;
  const RankRecord& host = attempt.ranks.front();
  if (attempt.verdict == Verdict::Leak) return failed + "the host has " + describe_leaks(attempt.leaks);
  if (host.outcome.kind == OutcomeKind::Failed) return name_of(work) + describe_action(host);
  return failed + "the host" + describe_action(host);
}

}  // namespace

SuiteHost::SuiteHost(const RunContext& run, const PlannedTest& test, std::function<void(const SuiteHost&)> on_lost)
    : run_(run),
      on_lost_(std::move(on_lost)),
      task_(task_of(test)),
      dir_(run.dirs.take(0)),
      standing_(run.loop, run.node, StandingWorld::Output::Kept),
      set_up_(run.loop) {
  share_->dir = dir_->shared();
  share_->tmp_dir = dir_->tmp_of(0);
  task_.share = share_;
  record_.plugin = task_.plugin;
  record_.suite = task_.info.suite;
  record_.rank.rank = kHostRank;
  standing_.on_broken([this] { lose(); });
}

io::Task<void> SuiteHost::set_up(std::string id) {
  state_ = State::SettingUp;
  AttemptRecord attempt = co_await do_work(wire::HostWork::SetUp, std::move(id));
  record_.set_up = attempt.duration;
  state_ = attempt.verdict == Verdict::Pass ? State::Ready : State::Over;
  if (state_ == State::Ready) {
    for (const proc::NewName& name : made_) run_.names.give(name);  // not leaks of the tests
    share_->settings = std::move(settings_);
  } else if (attempt.verdict == Verdict::Skip) {
    const Outcome& outcome = attempt.ranks.front().outcome;
    skip_ = wire::SkipReport{outcome.value, outcome.text};
  }
  close_work(std::move(attempt));
  if (!standing_.broken().empty()) lose();  // it died just when it became ready
  set_up_.set(true);
}

io::Task<void> SuiteHost::until_set_up() { co_await set_up_.wait(); }

io::Task<void> SuiteHost::tear_down(std::string id) {
  if (state_ == State::Ready) {
    state_ = State::Over;
    AttemptRecord attempt = co_await do_work(wire::HostWork::TearDown, std::move(id));
    record_.tear_down = attempt.duration;
    close_work(std::move(attempt));
  }
  co_await kill();
}

io::Task<void> SuiteHost::kill() {
  state_ = State::Over;
  co_await standing_.close();
  dir_.reset();
}

io::Task<AttemptRecord> SuiteHost::do_work(wire::HostWork work, std::string id) {
  task_.host = work;
  task_.id = task_.info.suite + (work == wire::HostWork::SetUp ? " (set-up)" : " (tear-down)");
  HostEvents events(run_.events, std::move(id));
  const RunContext context{run_.loop,     run_.node, events,      run_.names,
                           run_.settings, run_.dirs, run_.run_id, run_.graces};
  AttemptRecord record;
  std::string failure;
  try {
    attempt_ = std::make_unique<Attempt>(context, task_, 1, AttemptKind::First,
                                         Environment{&standing_, work == wire::HostWork::SetUp, nullptr});
    record = co_await attempt_->run();
    settings_ = attempt_->suite_settings();
    if (work == wire::HostWork::SetUp) made_ = attempt_->names();
  } catch (const Error& error) {
    failure = error.what();
  }
  attempt_.reset();
  record.infra_error = failure.empty() ? record.infra_error : failure;
  if (work == wire::HostWork::TearDown) find_names(record);
  conclude(record);
  record.message = base::one_line(message_of(record, work), kMessageMax);
  record.hang.clear();  // it would name a rank
  name_host(record);
  co_return record;
}

void SuiteHost::find_names(AttemptRecord& attempt) {
  if (run_.settings.leaks_off) return;
  for (Leak& leak : leaks_among(std::exchange(made_, {}), run_.names)) attempt.leaks.push_back(std::move(leak));
  for (const proc::NewName& name : dir_->left_in_tmp()) attempt.leaks.push_back(leak_of(name, !dir_->kept()));
}

// Keeps the errors that the host reported earlier.
void SuiteHost::close_work(AttemptRecord attempt) {
  if (!attempt.ranks.empty()) {
    std::vector<RankError> errors = std::move(record_.rank.errors);
    record_.rank = attempt.ranks.front();
    record_.rank.errors.insert(record_.rank.errors.begin(), errors.begin(), errors.end());
  }
  record_.verdict = attempt.verdict;
  record_.message = attempt.message;
  if (!is_good(attempt.verdict)) fail(std::move(attempt));
}

void SuiteHost::fail(AttemptRecord attempt) {
  record_.verdict = attempt.verdict;
  record_.message = attempt.message;
  failure_ = std::move(attempt);
}

std::string SuiteHost::death() const {
  const auto& status = standing_.last_death();
  if (!status) return standing_.broken().empty() ? "" : "was lost";
  return status->signaled() ? "was " + describe({OutcomeKind::Signaled, status->signal(), ""})
                            : describe({OutcomeKind::Exited, status->code(), ""});
}

void SuiteHost::lose() {
  if (state_ != State::Ready) return;
  state_ = State::Over;
  share_->lost = true;
  const auto& status = standing_.last_death();
  AttemptRecord attempt;
  attempt.verdict = Verdict::Crash;
  attempt.message = "the suite's host " + death();
  attempt.culprits = {kHostRank};
  attempt.phase = wire::Phase::Body;
  RankRecord host = record_.rank;
  host.phase = wire::Phase::Body;
  host.outcome = {OutcomeKind::Lost, 0, ""};
  if (status) {
    host.exit_code = status->exited() ? status->code() : -1;
    host.signal = status->signal();
    host.outcome = status->signaled() ? Outcome{OutcomeKind::Signaled, status->signal(), ""}
                                      : Outcome{OutcomeKind::Exited, status->code(), ""};
  }
  if (launch::World* world = standing_.world()) {
    world->finish_output();
    host.out = world->standard_output(0);
    host.err = world->standard_error(0);
  }
  record_.rank = host;
  attempt.ranks.push_back(std::move(host));
  fail(std::move(attempt));
  on_lost_(*this);
}

}  // namespace distrun::runner
