#pragma once
// A sink that ignores all events: the base of sinks that need only a few.
#include <distrun/runner/record/events.hpp>

namespace distrun::runner {

class SilentSink : public EventSink {
 public:
  void on_run_start(const RunRecord&, int) override {}
  void on_problem(const Problem&) override {}
  void on_test_start(const TestStart&) override {}
  void on_attempt_start(const AttemptStart&) override {}
  void on_rank_start(const std::string&, int, const RankRecord&) override {}
  void on_rank_phase(const std::string&, int, int, wire::Phase) override {}
  void on_rank_error(const std::string&, int, int, const RankError&) override {}
  void on_snapshot(const std::string&, int, const Snapshot&) override {}
  void on_rank_end(const std::string&, int, const RankRecord&) override {}
  void on_attempt_end(const std::string&, const AttemptRecord&) override {}
  void on_test_end(const TestRecord&) override {}
  void on_run_end(const RunRecord&) override {}
};

}  // namespace distrun::runner
