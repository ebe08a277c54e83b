#pragma once
// The host of a suite: a process that sets the suite up before its first test has any rank, stays while they run, and
// tears it down after the last. Each of these two works is an attempt with one rank, so that bounds, stacks, crashes
// and what is left behind are seen to as a test's are. Lives on: the coordinator's loop.
//
//   fresh --set_up--> ready --tear_down--> over
//     |                 `--it dies-------> over, with a failure
//     `--it fails, or skips--------------> over
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/runner/attempt/attempt.hpp>

namespace distrun::runner {

class SuiteHost {
 public:
  // Of the suite of this test. `run` must outlive it. `on_lost` is called when the host dies between its works.
  // Throws Error if there can be no directory.
  SuiteHost(const RunContext& run, const PlannedTest& test, std::function<void(const SuiteHost&)> on_lost);

  // Once; `id` is the test for which. Whoever comes meanwhile waits for it with until_set_up().
  io::Task<void> set_up(std::string id);
  io::Task<void> until_set_up();
  bool is_fresh() const noexcept { return state_ == State::Fresh; }
  // Silent if there is nothing to tear down. What it works with is gone when it completes.
  io::Task<void> tear_down(std::string id);
  // Stops a host that waits, and what it has started, until resume(); one at work is stopped with its attempt.
  void pause() { standing_.pause(); }
  void resume() { standing_.resume(); }
  // Ends the host without that.
  io::Task<void> kill();

  const std::string& plugin() const noexcept { return task_.plugin; }
  const std::string& suite() const noexcept { return task_.info.suite; }
  // What it gives to the suite's ranks, once it is ready.
  std::shared_ptr<const SuiteShare> share() const noexcept { return share_; }
  // What has gone wrong with it, as the attempt of a test that it fails.
  const std::optional<AttemptRecord>& failure() const noexcept { return failure_; }
  // Why no test of the suite is to run.
  const std::optional<wire::SkipReport>& skip() const noexcept { return skip_; }
  // How it died: "was killed by signal 9 (SIGKILL)"; or empty.
  std::string death() const;
  // What it does now; null: nothing.
  Attempt* work() const noexcept { return attempt_.get(); }
  const HostRecord& record() const noexcept { return record_; }

 private:
  enum class State { Fresh, SettingUp, Ready, Over };

  io::Task<AttemptRecord> do_work(wire::HostWork work, std::string id);
  void find_names(AttemptRecord& attempt);
  void close_work(AttemptRecord attempt);
  void lose();
  void fail(AttemptRecord attempt);

  const RunContext& run_;
  std::function<void(const SuiteHost&)> on_lost_;
  PlannedTest task_;               // the host's, as if it were a test of one rank
  std::unique_ptr<WorkDirs> dir_;  // shared with the suite's ranks
  std::shared_ptr<SuiteShare> share_ = std::make_shared<SuiteShare>();
  StandingWorld standing_;
  std::unique_ptr<Attempt> attempt_;
  State state_ = State::Fresh;
  io::OneShot<bool> set_up_;
  std::vector<wire::KeyValue> settings_;  // of the work that was done last
  std::vector<proc::NewName> made_;       // names that its set-up has left for the tests
  std::optional<AttemptRecord> failure_;
  std::optional<wire::SkipReport> skip_;
  HostRecord record_;
};

}  // namespace distrun::runner
