#include <distrun/runner/run/run.hpp>

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <numeric>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/io/spawn.hpp>
#include <distrun/runner/record/judge.hpp>
#include <distrun/runner/record/snapshot.hpp>
#include <distrun/runner/run/host_events.hpp>
#include <distrun/runner/run/status.hpp>

namespace distrun::runner {
namespace {

std::vector<std::string> plugins_of(const Settings& settings) {
  return settings.program.empty() ? settings.plugins : std::vector<std::string>{settings.program_path};
}

// Shorter waits are normal.
constexpr Nanoseconds kLongWait = std::chrono::seconds(1);

// Returns the message of the attempt that decided the test's verdict.
std::string message_of(const TestRecord& test) {
  for (const AttemptRecord& attempt : test.attempts) {
    const bool decisive = test.verdict == Verdict::Flaky ? !is_good(attempt.verdict) : attempt.verdict == test.verdict;
    if (decisive && !attempt.message.empty()) return attempt.message;
  }
  return "";
}

bool need_mpi(const std::vector<PlannedTest>& tests) {
  return std::any_of(tests.begin(), tests.end(),
                     [](const PlannedTest& test) { return test.info.needs_mpi && !test.skipped(); });
}

Room room_on(const launch::Node& node, const Machine& machine) {
  if (!node.machines().empty()) return Room::of_machines(node);
  return Room::of_machine(machine.cpus, memory_available());
}

// Returns the processes of ranks that may be paused.
std::vector<pid_t> pausable_ranks(const std::vector<Attempt*>& attempts) {
  std::vector<pid_t> pids;
  for (const Attempt* attempt : attempts) {
    if (attempt->age() > launch::kPausableFor) continue;
    for (const RankState& rank : attempt->ranks()) {
      if (rank.alive() && rank.record.pid > 0) pids.push_back(rank.record.pid);
    }
  }
  return pids;
}

}  // namespace

Run::Run(io::Loop& loop, launch::Node& node, EventSink& events, const proc::RunPlaces& places, Settings settings)
    : loop_(loop),
      node_(node),
      events_(events),
      places_(places),
      directory_(places.start_dir),
      names_(places, settings.program.empty()),
      dirs_(places.run_dir(), settings.keep_work_dir),
      context_{loop, node, events, names_, record_.settings, dirs_, places.run_id},
      plugins_(loop, node, record_.settings,
               [this](const std::string& plugin, const std::string& text) {
                 if (!cancelled_) add_problem(plugin, "load", text);
               }),
      hosts_(context_, [this](const SuiteHost& host) { lose_host(host); }),
      time_limit_(loop, settings.run_timeout, [this] { run_out_of_time(); }),
      outside_limit_(loop, record_, events,
                     {[this] {
                        stopped_ = true;
                        for (const auto& lane : lanes_) lane->begin_no_more();
                      },
                      [this](const std::string& why) {
                        context_.why_stopped = why;
                        stop(Urgency::Polite);
                      }}) {
  record_.run_id = places.run_id;
  record_.settings = std::move(settings);
  if (record_.settings.private_tmp) {
    private_tmps_.emplace(node, places, plugins_of(record_.settings), record_.settings.keep_work_dir);
    if (!node.is_spread()) context_.private_tmps = &*private_tmps_;  // nodes have their own
  }
  context_.graces = scaled_evidence(context_.graces, record_.settings);
  context_.graces.peers = record_.settings.peer_grace;
  context_.graces.terminate = record_.settings.terminate_grace;
}

Run::~Run() = default;

io::Task<void> Run::run() {
  const base::TimePoint started = active_now();
  record_.started_wall_ns = loop_.clock().wall_ns();
  time_limit_.begin();
  co_await gathering_.gather(private_tmps_ ? &*private_tmps_ : nullptr);
  events_.on_run_start(record_, static_cast<int>(tests_.size()));
  for (const Problem& problem : record_.problems) events_.on_problem(problem);
  for (const std::string& notice : record_.notices) events_.on_notice(notice);
  if (need_mpi(tests_)) context_.mpi_worlds = &mpi_worlds_.emplace(loop_, node_, places_);
  names_.forget();
  plugins_.expect(tests_);
  hosts_.expect(tests_);
  const bool endless = record_.settings.stress.count() > 0;
  queue_.emplace(loop_, batches(tests_), room_on(node_, record_.machine), endless, record_.settings.lock_limits);
  if (endless) {
    const auto living = [this] { return pausable_ranks(attempts()); };
    stress_.emplace(Stress::Parts{context_, hosts_, *queue_, tests_, record_.machine.cpus, living});
    co_await stress_->begin();
  }
  co_await run_lanes();
  if (stress_) stress_->end();
  for (std::size_t i = 0; i < tests_.size(); ++i) {
    if (!stress_ || !stress_->has_begun(i)) continue;
    close_test(co_await stress_->close(i, !cancelled_), i, started);
    plugins_.test_over(tests_[i]);
    ++done_;
  }
  const Hosts::Ending ending = cancelled_ ? Hosts::Ending::Kill : Hosts::Ending::TearDown;
  const std::vector<Problem> problems = co_await hosts_.close(ending);
  for (const Problem& problem : problems) add_problem(problem.plugin, problem.phase.c_str(), problem.text);
  record_.hosts = hosts_.records();
  time_limit_.end();
  outside_limit_.stop();
  finish(started);
}

// This coroutine itself runs the first lane.
io::Task<void> Run::run_lanes() {
  const int jobs = std::max(record_.settings.jobs, 1);
  int others = jobs - 1;
  io::OneShot<bool> all_over(loop_);
  const auto on_problem = [this](const std::string& plugin, const std::string& text) {
    add_problem(plugin, "between tests", text);
  };
  for (LaneCpus& cpus : bind_lanes(record_.settings.bind, jobs)) {
    lanes_.push_back(std::make_unique<Lane>(context_, plugins_, on_problem, std::move(cpus)));
  }
  std::exception_ptr failure;
  const auto on_end = [&](const std::exception_ptr& error) {
    if (error) failure = error;
    if (--others == 0) all_over.set(true);
  };
  for (int i = 1; i < jobs; ++i) {
    io::spawn(loop_, work(*lanes_[static_cast<std::size_t>(i)]), on_end);
  }
  co_await work(*lanes_.front());
  if (jobs > 1) co_await all_over.wait();
  if (failure) std::rethrow_exception(failure);
}

io::Task<void> Run::work(Lane& lane) {
  while (!stopped_ && !queue_->empty()) {
    const std::optional<Batch> batch = queue_->next();
    if (!batch) {
      const std::shared_ptr<io::OneShot<bool>> change = queue_->change();
      co_await change->wait();
      continue;
    }
    bool all_over = stress_.has_value();
    for (std::size_t i = batch->begin; i < batch->end && !stopped_; ++i) {
      const bool stay = i + 1 < batch->end && !tests_[i + 1].skipped();
      if (stress_) {
        co_await stress_->run(lane, i, stay);
        all_over = all_over && stress_->is_over(i);
      } else {
        co_await run_test(lane, tests_[i], i, stay);
      }
    }
    co_await lane.rest();
    if (all_over) queue_->leave_out(*batch);
    queue_->over(*batch);
  }
}

void Run::finish(base::TimePoint started) {
  tell_suspicions();
  std::vector<std::size_t> places(order_.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::sort(places.begin(), places.end(), [this](std::size_t a, std::size_t b) { return order_[a] < order_[b]; });
  std::vector<TestRecord> sorted;
  for (const std::size_t place : places) sorted.push_back(std::move(record_.tests[place]));
  record_.tests = std::move(sorted);
  record_.not_run += static_cast<int>(tests_.size()) - done_;
  record_.interrupted = interrupted_;
  const bool is_cut = std::any_of(lanes_.begin(), lanes_.end(), [](const auto& lane) { return lane->was_cut(); });
  if (outside_limit_.is_near() && !interrupted_ && (is_cut || cancelled_ || record_.not_run > 0)) {
    add_problem("", "run",
                outside_limit_.what() + " has ended it early; " + std::to_string(record_.tests.size()) + " of " +
                    std::to_string(tests_.size()) + " tests have been run");
  }
  record_.duration = active_now() - started;
}

void Run::tell_suspicions() {
  if (record_.settings.leaks_off) return;
  for (const NameWatch::Suspicion& suspicion : names_.suspicions()) {
    std::string tests;
    for (const std::string& test : suspicion.tests) tests += (tests.empty() ? "" : ", ") + test;
    add_problem("", "left behind",
                suspicion.path + " was left behind by one of the tests that were running then: " + tests);
  }
  record_.appeared = names_.strangers();
  if (record_.appeared.size() > kAppearedMax) record_.appeared.resize(kAppearedMax);
}

void Run::cancel(Urgency urgency, const std::string& why) {
  interrupted_ = true;
  if (context_.why_stopped.empty()) context_.why_stopped = why;
  stop(urgency);
}

void Run::stop(Urgency urgency) {
  cancelled_ = stopped_ = true;
  node_.cancel();
  for (const auto& lane : lanes_) lane->cancel(urgency);
  for (Attempt* work : hosts_.at_work()) work->cancel(urgency);
}

// Shows what the running tests do, as when the user ends the run.
void Run::run_out_of_time() {
  add_problem("", "run",
              "it has taken " + base::human(record_.settings.run_timeout) + " (--run-timeout) and was ended; " +
                  std::to_string(done_) + " of " + std::to_string(tests_.size()) + " tests had finished");
  stop(Urgency::Polite);
}

void Run::pass_on(int signal) {
  for (Attempt* attempt : attempts()) attempt->pass_on(signal);
}

std::vector<Attempt*> Run::attempts() const {
  std::vector<Attempt*> running;
  for (const auto& lane : lanes_) {
    if (lane->attempt() != nullptr) running.push_back(lane->attempt());
  }
  for (Attempt* work : hosts_.at_work()) running.push_back(work);
  return running;
}

wire::RunStatus Run::status() const {
  wire::RunStatus status;
  status.run_id = record_.run_id;
  status.pid = ::getpid();
  status.done = done_;
  status.count = static_cast<int>(tests_.size());
  for (const Attempt* attempt : attempts()) status.tests.push_back(describe(*attempt, loop_.clock().now()));
  status.command = record_.settings.command_line;
  status.plugins = plugins_of(record_.settings);
  status.directory = directory_;
  status.started_ms = record_.started_wall_ns / 1'000'000;
  return status;
}

std::map<std::string, std::string> Run::long_waits() const {
  const std::int64_t now_ns = monotonic_ns(loop_.clock().now());
  std::map<std::string, std::string> waits;
  for (const Attempt* attempt : attempts()) {
    for (const WaitLine& line : wait_lines(attempt->views(), now_ns, attempt->hosts())) {
      if (line.what.empty() || line.longest < kLongWait) continue;
      std::string& text = waits[attempt->test().id];
      text += (text.empty() ? "" : "; ") + line.hosts.label(line.ranks) + ": " + base::human(line.longest) + " in " +
              wait_text(line);
    }
  }
  return waits;
}

int Run::take_snapshot_now(const OnSnapshot& on_snapshot, Nanoseconds settle) {
  int snapshots = 0;
  for (Attempt* attempt : attempts()) {
    std::function<void(const Snapshot&)> told;
    if (on_snapshot)
      told = [on_snapshot, test = attempt->test().id](const Snapshot& snapshot) { on_snapshot(test, snapshot); };
    if (attempt->test().is_host()) told = naming_host(std::move(told));
    if (attempt->take_snapshot_now(std::move(told), settle)) ++snapshots;
  }
  return snapshots;
}

void Run::let_go() {
  for (Attempt* attempt : attempts()) attempt->let_go();
}

base::TimePoint Run::active_now() const { return std::min(loop_.clock().now(), paused_at_) - stood_; }

void Run::pause() {
  paused_at_ = std::min(paused_at_, loop_.clock().now());
  time_limit_.pause();
  if (stress_) stress_->pause();
  for (Attempt* attempt : attempts()) attempt->pause();
  for (const auto& lane : lanes_) lane->pause();
  hosts_.pause();
}

void Run::resume() {
  const base::TimePoint now = loop_.clock().now();
  stood_ += now - std::min(now, std::exchange(paused_at_, base::TimePoint::max()));
  time_limit_.resume();
  if (stress_) stress_->resume();
  hosts_.resume();
  for (const auto& lane : lanes_) lane->resume();
  for (Attempt* attempt : attempts()) attempt->resume();
}

io::Task<void> Run::run_test(Lane& lane, PlannedTest& test, std::size_t index, bool stay) {
  const base::TimePoint started = active_now();
  TestRecord record;
  bool usable = true;
  if (!test.skipped()) usable = co_await plugins_.prepare(test);
  if (usable && !cancelled_) {
    record.info = test.info;
    record.plugin = test.plugin;
    record.variant = test.variant;
    const TestStart start{
        test.info, test.id, test.plugin, test.variant, static_cast<int>(index), static_cast<int>(tests_.size())};
    events_.on_test_start(start);
    if (!test.skipped()) co_await run_in_suite(lane, test, record, stay);
    if (test.skipped()) {
      record.verdict = Verdict::Skip;
      record.message = test.info.skip.front().reason;
    } else {
      record.verdict = judge_test(record.attempts);
      record.message = message_of(record);
    }
    close_test(std::move(record), index, started);
  } else {
    ++record_.not_run;
  }
  ++done_;
  plugins_.test_over(test);
}

// The first test of a suite waits for its host to be set up, the last one for the host to end.
io::Task<void> Run::run_in_suite(Lane& lane, PlannedTest& test, TestRecord& record, bool stay) {
  const bool ready = co_await hosts_.enter(test, record);
  if (ready) co_await lane.run(test, record, stay);
  if (!cancelled_) co_await hosts_.leave(test, record);
  record.info = test.info;
}

void Run::lose_host(const SuiteHost& host) {
  for (Attempt* attempt : attempts()) {
    const PlannedTest& test = attempt->test();
    if (!test.is_host() && test.plugin == host.plugin() && test.info.suite == host.suite()) {
      attempt->lose_host(host.death());
    }
  }
}

void Run::close_test(TestRecord record, std::size_t index, base::TimePoint started) {
  record.duration = active_now() - started;
  ++record_.totals[static_cast<std::size_t>(record.verdict)];
  if (record_.settings.fail_fast && !is_good(record.verdict)) stopped_ = true;
  record_.tests.push_back(std::move(record));
  order_.push_back(index);
  events_.on_test_end(record_.tests.back());
}

void Run::add_problem(const std::string& plugin, const char* phase, const std::string& text) {
  record_.problems.push_back(problem_of(plugin, phase, text));
  events_.on_problem(record_.problems.back());
}

}  // namespace distrun::runner
