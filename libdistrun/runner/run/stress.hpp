#pragma once
// A stress run (--stress): its tests run again and again, on several lanes at once, on a machine that is made busy,
// until the time is over (launch/machine_load.hpp). Keeps the numbers, and of the attempts only the first of each kind
// of failure. Lives on: the coordinator's loop.
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <distrun/runner/launch/machine_load.hpp>
#include <distrun/runner/record/stress.hpp>
#include <distrun/runner/run/batch_queue.hpp>
#include <distrun/runner/run/hosts.hpp>
#include <distrun/runner/run/lane.hpp>
#include <distrun/runner/run/time_limit.hpp>

namespace distrun::runner {

class Stress {
 public:
  // Parts of the run that it uses; all must outlive it.
  struct Parts {
    const RunContext& run;
    Hosts& hosts;
    BatchQueue& queue;  // endless
    std::vector<PlannedTest>& tests;
    int cores = 1;
    std::function<std::vector<pid_t>()> living;  // the processes of the ranks on this machine that may be paused now
  };
  explicit Stress(Parts parts);
  // Begins the load, on all machines that run ranks, and the time; when that is over, it calls end(). Call once, first.
  // Throws Error{Overloaded} if there is no thread for the load.
  io::Task<void> begin();

  // Runs one more attempt of a test, unless is_over().
  io::Task<void> run(Lane& lane, std::size_t test, bool stay);
  bool has_begun(std::size_t test) const { return tests_[test].has_begun; }
  // Returns whether the test runs no more: it skips, or cannot run.
  bool is_over(std::size_t test) const { return tests_[test].is_over; }
  // Ends the load, and begins no more attempts: at the end of the time, or earlier.
  void end();
  // Returns the record of a test that has begun. Call once for each, after end(). `leave`: also leaves its suite's
  // host.
  io::Task<TestRecord> close(std::size_t test, bool leave);

  // Also end the load meanwhile. Call pause() before the ranks are suspended.
  void pause();
  void resume();
  // Returns the numbers so far; nothing before the end of the first attempt.
  std::optional<StressStatus> status() const;

 private:
  struct Test {
    bool has_begun = false;
    bool is_over = false;
    int last = 0;  // number of the last attempt that was begun
    StressRecord counted;
    std::vector<AttemptRecord> kept;
  };
  void add(Test& test, std::vector<AttemptRecord> attempts);
  io::Task<void> begin_load();
  io::Task<void> begin_load_again(std::weak_ptr<const void> alive);
  void end_load();

  Parts parts_;
  std::vector<Test> tests_;
  StressRecord all_;  // of all tests, without kinds
  int running_ = 0;   // attempts
  bool is_ended_ = false;
  TimeLimit limit_;
  base::TimePoint began_;
  std::optional<base::TimePoint> paused_at_;
  Nanoseconds stood_{};                      // sum of earlier pauses
  std::optional<launch::MachineLoad> load_;  // on this machine, if it runs the ranks
  std::shared_ptr<const void> guard_ = std::make_shared<int>(0);
};

}  // namespace distrun::runner
