#include "fan_out.hpp"

namespace distrun::cli {

void FanOut::on_run_start(const runner::RunRecord& run, int tests) {
  for (auto* sink : sinks_) sink->on_run_start(run, tests);
}
void FanOut::on_notice(const std::string& text) {
  for (auto* sink : sinks_) sink->on_notice(text);
}

void FanOut::on_problem(const runner::Problem& problem) {
  for (auto* sink : sinks_) sink->on_problem(problem);
}
void FanOut::on_test_start(const runner::TestStart& start) {
  for (auto* sink : sinks_) sink->on_test_start(start);
}
void FanOut::on_attempt_start(const runner::AttemptStart& start) {
  for (auto* sink : sinks_) sink->on_attempt_start(start);
}
void FanOut::on_rank_start(const std::string& id, int attempt, const runner::RankRecord& rank) {
  for (auto* sink : sinks_) sink->on_rank_start(id, attempt, rank);
}
void FanOut::on_rank_phase(const std::string& id, int attempt, int rank, wire::Phase phase) {
  for (auto* sink : sinks_) sink->on_rank_phase(id, attempt, rank, phase);
}
void FanOut::on_rank_error(const std::string& id, int attempt, int rank, const runner::RankError& error) {
  for (auto* sink : sinks_) sink->on_rank_error(id, attempt, rank, error);
}
void FanOut::on_snapshot(const std::string& id, int attempt, const runner::Snapshot& snapshot) {
  for (auto* sink : sinks_) sink->on_snapshot(id, attempt, snapshot);
}
void FanOut::on_rank_end(const std::string& id, int attempt, const runner::RankRecord& rank) {
  for (auto* sink : sinks_) sink->on_rank_end(id, attempt, rank);
}
void FanOut::on_attempt_end(const std::string& id, const runner::AttemptRecord& attempt) {
  for (auto* sink : sinks_) sink->on_attempt_end(id, attempt);
}
void FanOut::on_test_end(const runner::TestRecord& test) {
  for (auto* sink : sinks_) sink->on_test_end(test);
}
void FanOut::on_run_end(const runner::RunRecord& run) {
  for (auto* sink : sinks_) sink->on_run_end(run);
}

}  // namespace distrun::cli
