#include <distrun/runner/report/json/event_stream.hpp>

#include <distrun/runner/report/json/cause_json.hpp>
#include <distrun/runner/report/json/json_parts.hpp>
#include <distrun/runner/report/json/snapshot_json.hpp>

namespace distrun::report {

EventStream::EventStream(const std::string& path, const base::Clock& clock) : file_(path), clock_(clock) {}

void EventStream::on_run_start(const runner::RunRecord& run, int tests) {
  run_id_ = run.run_id;
  begin("run_start");
  line_.key("machine");
  write_machine(line_, run.machine);
  line_.key("settings");
  write_settings(line_, run.settings);
  line_.field("tests", tests);
  end();
}

void EventStream::on_problem(const runner::Problem& problem) {
  begin("problem");
  write_problem_fields(line_, problem);
  end();
}

void EventStream::on_test_start(const runner::TestStart& start) {
  begin("test_start", start.id);
  line_.field("suite", start.info.suite);
  line_.field("name", start.info.name);
  line_.key("parameters");
  write_parameters(line_, start.info.parameters);
  line_.field("plugin", start.plugin);
  line_.key("variant");
  write_variant(line_, start.variant);
  line_.field("file", start.info.file);
  line_.field("line", start.info.line);
  line_.field("index", start.index);
  line_.field("count", start.count);
  end();
}

void EventStream::on_attempt_start(const runner::AttemptStart& start) {
  begin("attempt_start", start.id, start.n);
  line_.field("attempt_kind", name_of(start.kind));
  line_.field("world_size", start.world_size);
  end();
}

void EventStream::on_rank_start(const std::string& id, int attempt, const runner::RankRecord& rank) {
  begin("rank_start", id, attempt, rank.rank);
  line_.field("pid", rank.pid);
  write_host(line_, rank);
  end();
}

void EventStream::on_rank_phase(const std::string& id, int attempt, int rank, wire::Phase phase) {
  begin("phase", id, attempt, rank);
  line_.field("phase", name_of(phase));
  end();
}

void EventStream::on_rank_error(const std::string& id, int attempt, int rank, const runner::RankError& error) {
  begin("error", id, attempt, rank);
  write_error_fields(line_, error);
  end();
}

void EventStream::on_snapshot(const std::string& id, int attempt, const runner::Snapshot& snapshot) {
  begin("snapshot", id, attempt);
  write_snapshot_fields(line_, snapshot);
  end();
}

void EventStream::on_rank_end(const std::string& id, int attempt, const runner::RankRecord& rank) {
  begin("rank_end", id, attempt, rank.rank);
  line_.field("pid", rank.pid);
  write_host(line_, rank);
  write_outcome_fields(line_, rank);
  write_measures(line_, rank.measures);
  end();
}

void EventStream::on_attempt_end(const std::string& id, const runner::AttemptRecord& attempt) {
  begin("attempt_end", id, attempt.n);
  line_.field("attempt_kind", name_of(attempt.kind));
  line_.field("verdict", name_of(attempt.verdict));
  line_.field("cause", name_of(attempt.cause.kind));
  line_.field("message", attempt.message);
  line_.field("phase", name_of(attempt.phase));
  line_.field("duration_ms", attempt.duration);
  write_array(line_, "culprits", attempt.culprits);
  write_hang_causes(line_, attempt.hang);
  line_.key("leaks");
  write_leaks(line_, attempt.leaks);
  line_.field_if(!attempt.infra_error.empty(), "infra_error", attempt.infra_error);
  end();
}

void EventStream::on_test_end(const runner::TestRecord& test) {
  begin("test_end", test.info.id());
  line_.field("verdict", name_of(test.verdict));
  line_.field("message", test.message);
  line_.field("duration_ms", test.duration);
  line_.field("attempts", test.attempts.size());
  end();
}

void EventStream::on_run_end(const runner::RunRecord& run) {
  begin("run_end");
  line_.key("totals");
  write_totals(line_, run.totals);
  line_.field("duration_ms", run.duration);
  line_.field("exit_code", exit_code_of(run));
  line_.field("interrupted", run.interrupted);
  end();
}

void EventStream::begin(const char* kind) {
  const base::Nanoseconds mono = clock_.now().time_since_epoch();
  line_.clear();
  line_.begin_object();
  line_.field("schema", "distrun.event/1");
  line_.field("seq", ++seq_);
  line_.field("t_mono_ns", mono.count());
  line_.field("t_wall", base::iso8601(clock_.wall_ns()));
  line_.field("run_id", run_id_);
  line_.field("kind", kind);
}

void EventStream::begin(const char* kind, const std::string& id) {
  begin(kind);
  line_.field("test", id);
}

void EventStream::begin(const char* kind, const std::string& id, int attempt) {
  begin(kind, id);
  line_.field("attempt", attempt);
}

void EventStream::begin(const char* kind, const std::string& id, int attempt, int rank) {
  begin(kind, id, attempt);
  line_.field("rank", rank);
}

void EventStream::end() {
  line_.end_object();
  line_.end_line();
  file_.append(line_.text());
}

}  // namespace distrun::report
