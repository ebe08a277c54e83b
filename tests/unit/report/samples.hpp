#pragma once
// Records of runs as the runner would write them, independent of time and machine.
#include <string>

#include <distrun/common/base/clock.hpp>
#include <distrun/runner/record/events.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::report::samples {

// A clock that advances only on request.
class StillClock final : public base::Clock {
 public:
  base::TimePoint now() const override { return base::TimePoint(passed_ + std::chrono::seconds(1000)); }
  std::int64_t wall_ns() const override { return 1'800'000'000'000'000'000 + passed_.count(); }
  void pass(base::Nanoseconds time) { passed_ += time; }

 private:
  base::Nanoseconds passed_{};
};

runner::RunRecord empty_run();
// Tests of four ranks, one for each way in which a test can end.
runner::TestRecord passing();
// Passes, and its ranks have measured something.
runner::TestRecord measuring();
runner::TestRecord failing();
runner::TestRecord crashing();
runner::TestRecord timing_out();
runner::TestRecord deadlocked();
runner::TestRecord skipped();
runner::TestRecord leaking();
runner::TestRecord flaky();
runner::TestRecord failing_every_retry();
runner::TestRecord broken_machine();
runner::TestRecord cancelled();
// 256 ranks, of which rank 17 exited.
runner::TestRecord wide();
// Ids, errors and output that try to break the reader.
runner::TestRecord hostile();

// The same test, of which the first half of the ranks ran on node01, and the rest on node02.
runner::TestRecord on_two_nodes(runner::TestRecord test);

// Updates the totals, too.
void add(runner::RunRecord& run, runner::TestRecord test);
// A run of only this test.
runner::RunRecord run_of(runner::TestRecord test);
// All of the above and a problem.
runner::RunRecord full_run();

// A suite with a failed host, and its test; another with a good host.
runner::RunRecord run_with_hosts();

// Sends everything in `run` to `sink`, in the order of a real run.
void replay(const runner::RunRecord& run, runner::EventSink& sink);
void replay_test(const runner::TestRecord& test, runner::EventSink& sink);

}  // namespace distrun::report::samples
