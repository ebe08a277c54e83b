#pragma once
// Passes every event to several sinks, in order.
#include <vector>

#include <distrun/runner/record/events.hpp>

namespace distrun::cli {

class FanOut final : public runner::EventSink {
 public:
  // `sink` must outlive the fan-out.
  void add(runner::EventSink& sink) { sinks_.push_back(&sink); }

  void on_run_start(const runner::RunRecord& run, int tests) override;
  void on_problem(const runner::Problem& problem) override;
  void on_notice(const std::string& text) override;
  void on_test_start(const runner::TestStart& start) override;
  void on_attempt_start(const runner::AttemptStart& start) override;
  void on_rank_start(const std::string& id, int attempt, const runner::RankRecord& rank) override;
  void on_rank_phase(const std::string& id, int attempt, int rank, wire::Phase phase) override;
  void on_rank_error(const std::string& id, int attempt, int rank, const runner::RankError& error) override;
  void on_snapshot(const std::string& id, int attempt, const runner::Snapshot& snapshot) override;
  void on_rank_end(const std::string& id, int attempt, const runner::RankRecord& rank) override;
  void on_attempt_end(const std::string& id, const runner::AttemptRecord& attempt) override;
  void on_test_end(const runner::TestRecord& test) override;
  void on_run_end(const runner::RunRecord& run) override;

 private:
  std::vector<runner::EventSink*> sinks_;
};

}  // namespace distrun::cli
