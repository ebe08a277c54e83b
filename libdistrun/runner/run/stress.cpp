#include <distrun/runner/run/stress.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include <distrun/common/io/spawn.hpp>
#include <distrun/runner/record/judge.hpp>

namespace distrun::runner {
namespace {

bool is_wanted(const Settings& settings, const char* kind) {
  return std::find(settings.stress_load.begin(), settings.stress_load.end(), kind) != settings.stress_load.end();
}

bool is_bad(const AttemptRecord& attempt) { return !is_good(attempt.verdict); }

}  // namespace

Stress::Stress(Parts parts)
    : parts_(std::move(parts)),
      tests_(parts_.tests.size()),
      limit_(parts_.run.loop, parts_.run.settings.stress, [this] { end(); }),
      began_(parts_.run.loop.clock().now()) {}

io::Task<void> Stress::begin() {
  co_await begin_load();
  began_ = parts_.run.loop.clock().now();
  limit_.begin();
}

io::Task<void> Stress::begin_load() {
  const Settings& settings = parts_.run.settings;
  const launch::LoadPlan plan{is_wanted(settings, "cpu"), is_wanted(settings, "memory"), is_wanted(settings, "pause"),
                              settings.seed};
  if (parts_.run.node.is_spread()) co_return co_await parts_.run.node.begin_load(plan);
  load_.emplace(parts_.run.loop, plan, parts_.cores, parts_.living);
}

void Stress::end_load() {
  load_.reset();
  parts_.run.node.end_load();
}

io::Task<void> Stress::run(Lane& lane, std::size_t index, bool stay) {
  Test& of = tests_[index];
  PlannedTest& test = parts_.tests[index];
  if (of.is_over) co_return;
  if (!std::exchange(of.has_begun, true)) {
    parts_.run.events.on_test_start({test.info, test.id, test.plugin, test.variant, static_cast<int>(index),
                                     static_cast<int>(parts_.tests.size())});
  }
  TestRecord record;
  of.is_over = test.skipped();
  if (of.is_over) co_return;
  ++running_;
  if (co_await parts_.hosts.enter(test, record)) {
    co_await lane.run_once(test, record, ++of.last, stay);
  } else {
    of.is_over = true;
  }
  --running_;
  const bool failed = std::any_of(record.attempts.begin(), record.attempts.end(), is_bad);
  add(of, std::move(record.attempts));
  if (failed && parts_.run.settings.fail_fast) parts_.queue.leave_out_all();
}

// Attempts that the user has ended do not count.
void Stress::add(Test& test, std::vector<AttemptRecord> attempts) {
  for (AttemptRecord& attempt : attempts) {
    if (attempt.cancelled) continue;
    const bool is_new = count(test.counted, attempt);
    count(all_, attempt);
    all_.kinds.clear();
    const bool ends_it = attempt.verdict == Verdict::Skip || attempt.verdict == Verdict::InfraError;
    test.is_over = test.is_over || ends_it;
    if (is_new || test.kept.empty() || ends_it) test.kept.push_back(std::move(attempt));
  }
}

void Stress::end() {
  limit_.end();
  parts_.queue.leave_out_all();
  end_load();
  is_ended_ = true;
}

io::Task<TestRecord> Stress::close(std::size_t index, bool leave) {
  const PlannedTest& test = parts_.tests[index];
  Test& of = tests_[index];
  TestRecord record;
  if (leave && !test.skipped()) co_await parts_.hosts.leave(test, record);
  add(of, std::exchange(record.attempts, {}));
  record.info = test.info;
  record.plugin = test.plugin;
  record.variant = test.variant;
  if (of.counted.failures > 0) std::erase_if(of.kept, [](const AttemptRecord& each) { return !is_bad(each); });
  record.attempts = std::move(of.kept);
  std::sort(of.counted.kinds.begin(), of.counted.kinds.end(),
            [](const StressFailure& a, const StressFailure& b) { return a.count > b.count; });
  if (test.skipped()) {
    record.verdict = Verdict::Skip;
    record.message = test.info.skip.front().reason;
  } else {
    record.verdict = record.attempts.empty() ? Verdict::Cancelled : judge_test(record.attempts);
    if (!record.attempts.empty()) record.message = record.attempts.front().message;
  }
  if (of.counted.failures > 0) record.message = failures_text(of.counted) + ": " + of.counted.kinds.front().message;
  record.stress = std::move(of.counted);
  co_return record;
}

void Stress::pause() {
  if (!paused_at_) paused_at_ = parts_.run.loop.clock().now();
  limit_.pause();
  end_load();  // before the ranks are suspended: the pauser continues the one that it has stopped
}

void Stress::resume() {
  if (!paused_at_) return;
  stood_ += parts_.run.loop.clock().now() - *paused_at_;
  paused_at_.reset();
  limit_.resume();
  if (is_ended_) return;
  // If no thread can be made, the stress goes on without load.
  io::spawn(parts_.run.loop, begin_load_again(guard_), [](const std::exception_ptr&) {});
}

// The run may end, or pause again, before this begins.
io::Task<void> Stress::begin_load_again(std::weak_ptr<const void> alive) {
  if (!alive.expired() && !is_ended_ && !paused_at_) co_await begin_load();
}

std::optional<StressStatus> Stress::status() const {
  if (all_.runs == 0) return std::nullopt;
  return StressStatus{paused_at_.value_or(parts_.run.loop.clock().now()) - began_ - stood_, running_, all_};
}

}  // namespace distrun::runner
