#pragma once
// The hosts of a run: which suites have one, when it is set up, and when it is no longer needed. Failures of a host are
// recorded with the tests of its suite. Lives on: the coordinator's loop.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <distrun/runner/run/suite_host.hpp>

namespace distrun::runner {

class Hosts {
 public:
  // `run` must outlive this object. `on_lost` is called when a host dies while tests of its suite may run.
  Hosts(const RunContext& run, std::function<void(const SuiteHost&)> on_lost);

  // Sets the tests of the run; call before the first of them.
  void expect(const std::vector<PlannedTest>& tests);
  // Call before the test has any rank: sets up its suite if that has not been done. Returns false if the test must not
  // run: then `test` has the reason of a skip, or `record` an attempt with the failure.
  io::Task<bool> enter(PlannedTest& test, TestRecord& record);
  // Call after the test. If its host has died meanwhile, adds that to `record`. After the suite's last test, tears the
  // suite down; a failure of that goes to `record`.
  io::Task<void> leave(const PlannedTest& test, TestRecord& record);
  // Ends the remaining hosts, politely or at once; returns failures as problems.
  enum class Ending { TearDown, Kill };
  io::Task<std::vector<Problem>> close(Ending ending);

  // Suspend waiting hosts from pause() to resume().
  void pause();
  void resume();

  // Returns the attempts that hosts are running now.
  std::vector<Attempt*> at_work() const;
  // Returns the records of hosts that have ended.
  const std::vector<HostRecord>& records() const noexcept { return records_; }

 private:
  using Key = std::pair<std::string, std::string>;  // plugin and suite
  static Key key_of(const PlannedTest& test) { return {test.plugin, test.info.suite}; }
  void blame(const AttemptRecord& failure, const std::string& id, TestRecord& record);
  io::Task<void> end(Key key, std::string id);

  const RunContext& run_;
  std::function<void(const SuiteHost&)> on_lost_;
  std::map<Key, int> waiting_;  // tests that have not left yet
  std::map<Key, std::unique_ptr<SuiteHost>> hosts_;
  std::vector<HostRecord> records_;
};

}  // namespace distrun::runner
