#pragma once
// What a run tells while it goes on, in one order that everybody sees. Reports, the console and the
// event stream are sinks. Every call comes on the coordinator's loop and must not block for long;
// references are good for the call only.
#include <string_view>

#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

struct TestStart {
  const wire::TestInfo& info;
  const std::string& id;
  const std::string& plugin;
  const Variant& variant;
  int index = 0;  // of the run's tests, from 0
  int count = 0;
};

struct AttemptStart {
  const std::string& id;
  int n = 1;
  AttemptKind kind = AttemptKind::First;
  int world_size = 0;
};

class EventSink {
 public:
  virtual ~EventSink() = default;

  // `run` holds id, machine, settings; `tests` is how many were selected.
  virtual void on_run_start(const RunRecord& run, int tests) = 0;
  virtual void on_problem(const Problem& problem) = 0;
  virtual void on_test_start(const TestStart& start) = 0;
  virtual void on_attempt_start(const AttemptStart& start) = 0;
  virtual void on_rank_start(const std::string& id, int attempt, int rank, int pid) = 0;
  virtual void on_rank_phase(const std::string& id, int attempt, int rank, wire::Phase phase) = 0;
  virtual void on_rank_error(const std::string& id, int attempt, int rank, const RankError& error) = 0;
  // The ranks were looked at: on a timeout or a crash, because the test is slow, or because somebody asked.
  virtual void on_look(const std::string& id, int attempt, const Look& look) = 0;
  // Its outcome is final; its output is complete once the attempt has ended.
  virtual void on_rank_end(const std::string& id, int attempt, const RankRecord& rank) = 0;
  virtual void on_attempt_end(const std::string& id, const AttemptRecord& attempt) = 0;
  virtual void on_test_end(const TestRecord& test) = 0;
  // Last of all; `run` is complete but for problems of reports that are written after it.
  virtual void on_run_end(const RunRecord& run) = 0;
};

}  // namespace distrun::runner
