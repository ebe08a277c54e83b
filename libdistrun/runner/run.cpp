#include <distrun/runner/run.hpp>

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <distrun/base/error.hpp>
#include <distrun/base/rank_list.hpp>
#include <distrun/runner/judge.hpp>
#include <distrun/runner/look.hpp>
#include <distrun/runner/program.hpp>
#include <distrun/runner/status.hpp>

namespace distrun::runner {
namespace {

// Texts of errors name the plugin, and so does the problem: once is enough.
Problem problem_of(const std::string& plugin, const char* phase, std::string text) {
  if (text.starts_with(plugin)) {
    text.erase(0, plugin.size());
    text.erase(0, std::min(text.find_first_not_of(": "), text.size()));
  }
  return {plugin, phase, std::move(text)};
}

// Shorter waits are how ranks work.
constexpr Nanoseconds kLongWait = std::chrono::seconds(1);

// What the test as a whole says: that of the attempt that gave it its verdict.
std::string message_of(const TestRecord& test) {
  for (const AttemptRecord& attempt : test.attempts) {
    const bool decisive = test.verdict == Verdict::Flaky ? !is_good(attempt.verdict) : attempt.verdict == test.verdict;
    if (decisive && !attempt.message.empty()) return attempt.message;
  }
  return "";
}

}  // namespace

Run::Run(io::Loop& loop, launch::Node& node, EventSink& events, const proc::RunPlaces& places, Settings settings)
    : loop_(loop), node_(node), events_(events), scan_(places, settings.program.empty()),
      dirs_(places.run_dir(), settings.keep_work_dir),
      context_{loop, node, events, scan_, record_.settings, dirs_, places.run_id}, standing_(loop, node) {
  record_.run_id = places.run_id;
  record_.settings = std::move(settings);
  context_.graces.peers = record_.settings.peer_grace;
  context_.graces.terminate = record_.settings.terminate_grace;
}

Run::~Run() = default;

io::Task<void> Run::run() {
  const base::TimePoint started = loop_.clock().now();
  record_.started_wall_ns = loop_.clock().wall_ns();
  co_await list_plugins();
  refuse_to_debug_many();
  const int count = static_cast<int>(tests_.size());
  events_.on_run_start(record_, count);
  for (const Problem& problem : record_.problems) events_.on_problem(problem);
  scan_.forget();
  for (; done_ < count && !cancelled_; ++done_) {
    PlannedTest& test = tests_[static_cast<std::size_t>(done_)];
    co_await run_test(test, done_, count);
    const bool last_of_plugin =
        done_ + 1 == count || tests_[static_cast<std::size_t>(done_) + 1].plugin != test.plugin;
    if (last_of_plugin) {
      co_await end_standing(nullptr);
      node_.release(test.plugin);
    }
    if (record_.settings.fail_fast && !record_.tests.empty() && !is_good(record_.tests.back().verdict)) {
      ++done_;
      break;
    }
  }
  co_await end_standing(nullptr);
  record_.not_run += count - done_;
  record_.interrupted = cancelled_;
  record_.duration = loop_.clock().now() - started;
}

void Run::cancel(Urgency urgency) {
  cancelled_ = true;
  node_.cancel();
  if (attempt_) attempt_->cancel(urgency);
}

wire::RunStatus Run::status() const {
  wire::RunStatus status;
  status.run_id = record_.run_id;
  status.pid = ::getpid();
  status.done = done_;
  status.count = static_cast<int>(tests_.size());
  if (attempt_) describe(*attempt_, loop_.clock().now(), status);
  return status;
}

std::string Run::long_waits() const {
  if (!attempt_) return "";
  const std::int64_t now_ns = monotonic_ns(loop_.clock().now());
  std::string text;
  for (const WaitLine& line : wait_lines(attempt_->views(), now_ns)) {
    if (line.what.empty() || line.longest < kLongWait) continue;
    text += (text.empty() ? "" : "; ") + base::ranks_label(line.ranks) + ": " + base::human(line.longest) + " in " +
            wait_text(line);
  }
  return text;
}

bool Run::look_now(std::function<void(const Look&)> on_look) {
  return attempt_ && attempt_->look_now(std::move(on_look));
}

void Run::let_go() {
  if (attempt_) attempt_->let_go();
}

void Run::pause() {
  if (attempt_) attempt_->pause();
}

void Run::resume() {
  if (attempt_) attempt_->resume();
}

// There is one terminal, and one debugger for it.
void Run::refuse_to_debug_many() {
  if (record_.settings.debug_rank < 0 || tests_.size() <= 1) return;
  record_.problems.push_back({"", "start", "--debug wants one test, and " + std::to_string(tests_.size()) +
                                               " are selected: name it with --filter"});
  record_.not_run += static_cast<int>(tests_.size());
  tests_.clear();
}

io::Task<void> Run::list_plugins() {
  if (!record_.settings.program.empty()) tests_.push_back(plan_program(record_.settings));
  const Filter filter(record_.settings.filters);
  for (const std::string& plugin : record_.settings.plugins) {
    if (cancelled_) break;
    std::string failure;
    try {
      const wire::ListOrder order = list_order(record_.settings);
      wire::PluginTable table = co_await node_.list(plugin, order, load_bound(record_.settings));
      std::vector<PlannedTest> planned = plan(plugin, std::move(table), filter, record_.settings);
      std::move(planned.begin(), planned.end(), std::back_inserter(tests_));
    } catch (const Error& error) {
      failure = error.what();
    }
    if (!failure.empty() && !cancelled_) record_.problems.push_back(problem_of(plugin, "list", failure));
  }
}

io::Task<void> Run::run_test(PlannedTest& test, int index, int count) {
  const base::TimePoint started = loop_.clock().now();
  TestRecord record;
  if (!test.skipped()) {
    const bool usable = co_await prepare(test);
    if (!usable) {
      ++record_.not_run;
      co_return;
    }
  }
  record.info = test.info;
  record.plugin = test.plugin;
  record.variant = test.variant;
  const TestStart start{test.info, test.id, test.plugin, test.variant, index, count};
  events_.on_test_start(start);
  if (test.skipped()) {
    record.verdict = Verdict::Skip;
    record.message = test.info.skip.front().reason;
  } else {
    co_await run_attempts(test, record);
    record.verdict = judge_test(record.attempts);
    record.message = message_of(record);
  }
  close_test(std::move(record), started);
}

void Run::close_test(TestRecord record, base::TimePoint started) {
  record.duration = loop_.clock().now() - started;
  ++record_.totals[static_cast<std::size_t>(record.verdict)];
  record_.tests.push_back(std::move(record));
  events_.on_test_end(record_.tests.back());
}

// The last of its kind in the run's order lets its ranks end as in the other isolations, judged with it.
bool Run::next_is_alike(const PlannedTest& test) const {
  const auto next = static_cast<std::size_t>(done_) + 1;
  if (next >= tests_.size() || tests_[next].skipped()) return false;
  const PlannedTest& other = tests_[next];
  return other.plugin == test.plugin && other.info.suite == test.info.suite &&
         other.variant.isolation == test.variant.isolation && other.variant.world_size == test.variant.world_size;
}

io::Task<void> Run::run_attempts(PlannedTest& test, TestRecord& record) {
  for (int repeat = 0; repeat < record_.settings.repeat && !cancelled_; ++repeat) {
    const bool stay = repeat + 1 < record_.settings.repeat || next_is_alike(test);
    bool going = co_await run_attempt(test, record, repeat == 0 ? AttemptKind::First : AttemptKind::Repeat, stay);
    for (int retry = 0; retry < record_.settings.retries && going; ++retry) {
      if (is_good(record.attempts.back().verdict) || cancelled_) break;
      going = co_await run_attempt(test, record, AttemptKind::Retry, stay);
    }
    if (!going) break;
  }
}

io::Task<void> Run::end_standing(const PlannedTest* test) {
  if (!standing_.broken().empty()) {
    add_problem(standing_.plugin(), "between tests",
                "of the ranks of " + standing_.suite() + " that waited for their next test, " + standing_.broken());
  }
  launch::WorldSpec wanted;
  if (test != nullptr) wanted = spec_of(*test);
  if (test == nullptr || !standing_.serves(wanted, test->info.suite)) co_await standing_.close();
}

io::Task<bool> Run::run_attempt(PlannedTest& test, TestRecord& record, AttemptKind kind, bool stay) {
  const int n = static_cast<int>(record.attempts.size()) + 1;
  std::string failure;
  try {
    const bool usable = co_await prepare(test);
    if (usable && !cancelled_) {
      const bool standing = launch::ranks_stay(test.variant.isolation);
      if (standing) co_await end_standing(&test);
      attempt_ = std::make_unique<Attempt>(context_, test, n, kind, standing ? &standing_ : nullptr, standing && stay);
      AttemptRecord result = co_await attempt_->run();
      attempt_.reset();
      record.attempts.push_back(std::move(result));
      co_return true;
    }
    failure = cancelled_ ? "" : "the plugin can no longer be loaded";
  } catch (const Error& error) {
    failure = error.what();
  }
  attempt_.reset();
  AttemptRecord failed;
  failed.n = n;
  failed.kind = kind;
  failed.infra_error = failure;
  failed.cancelled = cancelled_;
  const Judgement judgement = judge(failed);
  failed.verdict = judgement.verdict;
  failed.message = judgement.message;
  failed.phase = judgement.phase;
  record.attempts.push_back(std::move(failed));
  co_return false;
}

io::Task<bool> Run::prepare(PlannedTest& test) {
  if (unusable_.contains(test.plugin)) co_return false;
  std::string failure;
  try {
    const launch::Prepared prepared =
        co_await node_.prepare(test.plugin, test.variant.isolation, load_bound(record_.settings));
    test.variant.isolation = prepared.isolation;
    if (!prepared.reason.empty()) test.variant.isolation_reason = prepared.reason;
  } catch (const Error& error) {
    failure = error.what();
  }
  if (failure.empty()) co_return true;
  unusable_.insert(test.plugin);
  if (!cancelled_) add_problem(test.plugin, "load", failure);
  co_return false;
}

void Run::add_problem(const std::string& plugin, const char* phase, const std::string& text) {
  record_.problems.push_back(problem_of(plugin, phase, text));
  events_.on_problem(record_.problems.back());
}

}  // namespace distrun::runner
