#pragma once
// The host of a suite: a process that sets the suite up before its first test has any rank, persists while the tests
// run, and tears the suite down after the last. Set-up and tear-down are attempts with one rank, so bounds, stacks,
// crashes and leaks are handled as for a test. Lives on: the coordinator's loop.
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
#include <distrun/runner/attempt/test_resources.hpp>

namespace distrun::runner {

class SuiteHost {
 public:
  // Creates the host for the suite of this test. `run` must outlive it. `on_lost` is called when the host dies between
  // set-up and tear-down. Throws Error if its directory cannot be created.
  SuiteHost(const RunContext& run, const PlannedTest& test, std::function<void(const SuiteHost&)> on_lost);

  // Call once; `id` is the test that needs the suite. Other tests wait with until_set_up().
  io::Task<void> set_up(std::string id);
  io::Task<void> until_set_up();
  bool is_fresh() const noexcept { return state_ == State::Fresh; }
  // Runs no tear-down without a successful set-up or after the host's death. Ends with process and directory removed.
  io::Task<void> tear_down(std::string id);
  // Suspend a waiting host and its processes until resume(); a working host is suspended with its attempt.
  void pause() { standing_.pause(); }
  void resume() { standing_.resume(); }
  // Ends the host without a tear-down.
  io::Task<void> kill();

  const std::string& plugin() const noexcept { return task_.plugin; }
  const std::string& suite() const noexcept { return task_.info.suite; }
  // Returns the data for the suite's ranks, once the host is ready.
  std::shared_ptr<const SuiteShare> share() const noexcept { return share_; }
  // Returns the host's failure, as an attempt of a test that it makes fail.
  const std::optional<AttemptRecord>& failure() const noexcept { return failure_; }
  // Returns the reason to skip all tests of the suite.
  const std::optional<wire::SkipReport>& skip() const noexcept { return skip_; }
  // Says how the host died: "was killed by signal 9 (SIGKILL)"; or empty.
  std::string death() const;
  // Returns the running set-up or tear-down; null: none.
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
  PlannedTest task_;               // the host's work, in the form of a test of one rank
  std::unique_ptr<WorkDirs> dir_;  // shared with the suite's ranks
  std::shared_ptr<SuiteShare> share_ = std::make_shared<SuiteShare>();
  StandingWorld standing_;
  std::unique_ptr<Attempt> attempt_;
  State state_ = State::Fresh;
  io::OneShot<bool> set_up_;
  std::vector<wire::KeyValue> settings_;  // from the last set-up or tear-down
  std::vector<proc::NewName> made_;       // names that the set-up has left for the tests
  std::optional<AttemptRecord> failure_;
  std::optional<wire::SkipReport> skip_;
  HostRecord record_;
};

}  // namespace distrun::runner
