#pragma once
// The hosts of a run: which suite has one, when it is set up, and when nobody needs it any more. What goes wrong with
// a host is told by the tests that it serves. Lives on: the coordinator's loop.
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
  // `run` must outlive it. `on_lost` is called when a host dies while tests of its suite may run.
  Hosts(const RunContext& run, std::function<void(const SuiteHost&)> on_lost);

  // The tests of the run, before the first of them.
  void expect(const std::vector<PlannedTest>& tests);
  // Before the test has any rank: sets its suite up if nobody has. False if the test is not to run: `test` has the
  // reason of a skip then, or `record` an attempt that says what is wrong.
  io::Task<bool> enter(PlannedTest& test, TestRecord& record);
  // The test is over. If its host has died meanwhile, `record` says so. After its suite's last test the suite is torn
  // down; what goes wrong then is in `record`.
  io::Task<void> leave(const PlannedTest& test, TestRecord& record);
  // Ends the hosts that are left, politely or at once; what goes wrong is told as problems.
  enum class Ending { TearDown, Kill };
  io::Task<std::vector<Problem>> close(Ending ending);

  // Those that wait stand still from pause() to resume().
  void pause();
  void resume();

  // The works that hosts do now.
  std::vector<Attempt*> at_work() const;
  // Of those that have ended.
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
