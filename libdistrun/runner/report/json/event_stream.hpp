#pragma once
// Streams the run for machines: one JSON object per line, written when the event happens. Every line has schema, seq,
// t_mono_ns, t_wall, run_id and kind, and where they apply test, attempt and rank. The other fields of each kind:
// schema/event.schema.json. Lives on: control loop.
#include <cstdint>
#include <string>

#include <distrun/common/base/clock.hpp>
#include <distrun/runner/record/events.hpp>
#include <distrun/runner/report/files/line_file.hpp>
#include <distrun/runner/report/json/json_writer.hpp>

namespace distrun::report {

class EventStream final : public runner::EventSink {
 public:
  // Opens `path` as LineFile does. `clock` must outlive the stream.
  EventStream(const std::string& path, const base::Clock& clock);

  // Says why lines are missing; empty: no line is.
  const std::string& error() const noexcept { return file_.error(); }

  void on_run_start(const runner::RunRecord& run, int tests) override;
  void on_problem(const runner::Problem& problem) override;
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
  void begin(const char* kind);
  void begin(const char* kind, const std::string& id);
  void begin(const char* kind, const std::string& id, int attempt);
  void begin(const char* kind, const std::string& id, int attempt, int rank);
  void end();

  LineFile file_;
  const base::Clock& clock_;
  std::string run_id_;  // set in on_run_start
  std::uint64_t seq_ = 0;
  JsonWriter line_{JsonWriter::Layout::Line};  // reused for every line, for its memory
};

}  // namespace distrun::report
