#pragma once
// Events of a run in progress, in one order for all sinks: reports, the console and the event stream. Every call comes
// on the coordinator's loop and must not block for long; references are valid only during the call.
#include <string_view>

#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

struct TestStart {
  const wire::TestInfo& info;
  const std::string& id;
  const std::string& plugin;
  const Variant& variant;
  int index = 0;  // among the run's tests, from 0
  int count = 0;
};

struct AttemptStart {
  const std::string& id;
  int n = 1;
  AttemptKind kind = AttemptKind::First;
  int world_size = 0;        // 0: the host of a suite
  bool one_process = false;  // its ranks are threads of one process
};

class EventSink {
 public:
  virtual ~EventSink() = default;

  // `run` holds id, machine and settings; `tests` is the number of selected tests.
  virtual void on_run_start(const RunRecord& run, int tests) = 0;
  virtual void on_problem(const Problem& problem) = 0;
  // Something that changes no verdict: "the allocation (Slurm job 17) ends in 30 s: ...".
  virtual void on_notice(const std::string& /*text*/) {}
  virtual void on_test_start(const TestStart& start) = 0;
  virtual void on_attempt_start(const AttemptStart& start) = 0;
  // `rank` says where it runs, and its process; nothing else is known yet.
  virtual void on_rank_start(const std::string& id, int attempt, const RankRecord& rank) = 0;
  virtual void on_rank_phase(const std::string& id, int attempt, int rank, wire::Phase phase) = 0;
  virtual void on_rank_error(const std::string& id, int attempt, int rank, const RankError& error) = 0;
  // A snapshot of the ranks was taken: on a timeout or a crash, because the test is slow, or on request.
  virtual void on_snapshot(const std::string& id, int attempt, const Snapshot& snapshot) = 0;
  // The rank's outcome is final; its output is complete only at the end of the attempt.
  virtual void on_rank_end(const std::string& id, int attempt, const RankRecord& rank) = 0;
  virtual void on_attempt_end(const std::string& id, const AttemptRecord& attempt) = 0;
  virtual void on_test_end(const TestRecord& test) = 0;
  // The last event. `run` is complete, except for problems of reports that are written later.
  virtual void on_run_end(const RunRecord& run) = 0;
};

}  // namespace distrun::runner
