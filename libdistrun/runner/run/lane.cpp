#include <distrun/runner/run/lane.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/attempt/cpu_share.hpp>
#include <distrun/runner/record/describe.hpp>
#include <distrun/runner/record/judge.hpp>

namespace distrun::runner {
namespace {

constexpr std::size_t kTestsNamed = 8;

int next_number(const TestRecord& test) { return static_cast<int>(test.attempts.size()) + 1; }

}  // namespace

Lane::Lane(const RunContext& run, Preparation& plugins, OnProblem on_problem, LaneCpus cpus)
    : run_(run),
      plugins_(plugins),
      on_problem_(std::move(on_problem)),
      cpus_(std::move(cpus)),
      standing_(run.loop, run.node) {}

void Lane::cancel(Urgency urgency) {
  cancelled_ = true;
  if (attempt_) attempt_->cancel(urgency);
}

io::Task<void> Lane::run(PlannedTest& test, TestRecord& record, bool stay) {
  const Settings& settings = run_.settings;
  const int times = settings.until_fail > 0 ? settings.until_fail : settings.repeat;
  for (int repeat = 0; repeat < times && !cancelled_; ++repeat) {
    const bool more = stay || repeat + 1 < times;
    const AttemptKind kind = repeat == 0 ? AttemptKind::First : AttemptKind::Repeat;
    bool going = co_await run_attempt(test, record, next_number(record), kind, more);
    const int retries = test.retries >= 0 ? test.retries : settings.retries;
    for (int retry = 0; retry < retries && going; ++retry) {
      if (!may_retry(record.attempts.back().verdict) || cancelled_ || !may_begin_) break;
      going = co_await run_attempt(test, record, next_number(record), AttemptKind::Retry, more);
    }
    if (!going || is_settled(record)) break;
    if (!may_begin_) {
      was_cut_ = repeat + 1 < times;
      break;
    }
  }
}

io::Task<void> Lane::run_once(PlannedTest& test, TestRecord& record, int n, bool stay) {
  co_await run_attempt(test, record, n, n == 1 ? AttemptKind::First : AttemptKind::Repeat, stay);
}

bool Lane::may_retry(Verdict verdict) const {
  const std::vector<std::string>& wanted = run_.settings.retry_on;
  const bool is_wanted = wanted.empty() || std::find(wanted.begin(), wanted.end(), name_of(verdict)) != wanted.end();
  return is_wanted && !is_good(verdict);
}

// Any result other than a pass, including a skip, ends the repetition of --until-fail.
bool Lane::is_settled(const TestRecord& test) const {
  return run_.settings.until_fail > 0 && test.attempts.back().verdict != Verdict::Pass;
}

io::Task<void> Lane::rest() { co_await end_standing(nullptr); }

// Ends persistent ranks that do not serve `test`; null ends all.
io::Task<void> Lane::end_standing(const PlannedTest* test) {
  if (!standing_.broken().empty()) {
    on_problem_(standing_.plugin(),
                "while the ranks of " + standing_.suite() + " waited for their next test, " + standing_.broken());
  }
  if (test != nullptr && standing_.serves(spec_of(*test), test->info.suite)) co_return;
  const std::string plugin = standing_.plugin();
  const std::string when = "when the ranks of " + standing_.suite() + " were dismissed, ";
  const Nanoseconds bound = bound_of(wire::Phase::Exit, {}, run_.settings);
  const std::string bad_end = co_await standing_.close(cancelled_ ? Nanoseconds::zero() : bound);
  if (!bad_end.empty()) on_problem_(plugin, when + bad_end);
}

void Lane::note_test(const PlannedTest& test, bool standing) {
  if (!standing || !standing_.serves(spec_of(test), test.info.suite)) ran_.clear();
  if (std::find(ran_.begin(), ran_.end(), test.id) == ran_.end()) ran_.push_back(test.id);
}

// The exit handler or destructor may come from any of the tests, so no single test is blamed.
void Lane::tell_bad_end(const PlannedTest& test, const AttemptRecord& result) const {
  const std::string ends = describe_bad_ends(result);
  if (ends.empty()) return;
  std::string tests;
  for (std::size_t i = 0; i < ran_.size() && i < kTestsNamed; ++i) tests += (i == 0 ? "" : ", ") + ran_[i];
  if (ran_.size() > kTestsNamed) tests += " and " + std::to_string(ran_.size() - kTestsNamed) + " more";
  on_problem_(test.plugin, "among the ranks that had run " + tests + ", " + ends +
                               "; to reproduce it, run these tests " + "together: --isolation " +
                               name_of(test.variant.isolation) + " --filter '" + test.info.suite + ".*'");
}

io::Task<std::unique_ptr<mpi::World>> Lane::join_mpi(const PlannedTest& test) const {
  if (!test.info.needs_mpi) co_return nullptr;
  const int ranks = test.variant.world_size;
  std::unique_ptr<mpi::World> world = run_.mpi_worlds->start(
      {ranks, ranks * run_.settings.jobs > cpus_for_ranks(), false, run_.private_tmps != nullptr});
  const std::string failure = co_await world->server().ready(mpi::kReadyBound);
  if (!failure.empty()) throw Error(ErrorKind::Failed, failure);
  co_return world;
}

// Returns false if the test cannot be run any further.
io::Task<bool> Lane::run_attempt(PlannedTest& test, TestRecord& record, int n, AttemptKind kind, bool stay) {
  std::string failure;
  std::unique_ptr<mpi::World> mpi;  // outlives the attempt
  try {
    const bool usable = co_await plugins_.prepare(test);
    if (usable && !cancelled_) {
      const bool standing = base::ranks_stay(test.variant.isolation);
      co_await end_standing(standing ? &test : nullptr);
      if (run_.private_tmps != nullptr && !private_tmp_) private_tmp_ = co_await run_.private_tmps->make();
      note_test(test, standing);
      mpi = co_await join_mpi(test);
      const Environment environment{
          standing ? &standing_ : nullptr, standing && stay, private_tmp_.get(), ran_.size() > 1, &cpus_,
          mpi ? &mpi->server() : run_.mpi};
      attempt_ = std::make_unique<Attempt>(run_, test, n, kind, environment);
      AttemptRecord result = co_await attempt_->run();
      attempt_.reset();
      if (private_tmp_ && !private_tmp_->left().empty()) private_tmp_.reset();  // leftovers must not affect other tests
      tell_bad_end(test, result);
      record.attempts.push_back(std::move(result));
      co_return !test.share || !test.share->lost;
    }
    failure = cancelled_ ? "" : "the plugin can no longer be loaded";
  } catch (const Error& error) {
    failure = error.what();
  }
  attempt_.reset();
  record.attempts.push_back(failed_attempt(n, kind, failure));
  co_return false;
}

AttemptRecord Lane::failed_attempt(int n, AttemptKind kind, const std::string& failure) const {
  AttemptRecord failed;
  failed.n = n;
  failed.kind = kind;
  failed.infra_error = failure;
  failed.cancelled = cancelled_;
  failed.cancelled_because = run_.why_stopped;
  conclude(failed);
  return failed;
}

}  // namespace distrun::runner
