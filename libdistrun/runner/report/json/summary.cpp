#include <distrun/runner/report/json/summary.hpp>

#include <string_view>
#include <vector>

#include <distrun/runner/record/stress.hpp>
#include <distrun/runner/report/json/cause_json.hpp>
#include <distrun/runner/report/json/json_parts.hpp>
#include <distrun/runner/report/json/snapshot_json.hpp>

namespace distrun::report {
namespace {

void write_error(JsonWriter& out, const runner::RankError& error) {
  out.begin_object();
  write_error_fields(out, error);
  out.end_object();
}

// The first error is also a separate field: most readers want only that.
void write_errors(JsonWriter& out, const std::vector<runner::RankError>& errors) {
  out.key("error");
  if (errors.empty()) {
    out.null();
  } else {
    write_error(out, errors.front());
  }
  out.key("errors");
  out.begin_array();
  for (const runner::RankError& error : errors) write_error(out, error);
  out.end_array();
}

void write_rank(JsonWriter& out, const runner::RankRecord& rank) {
  out.begin_object();
  out.field("rank", rank.rank);
  out.field("pid", rank.pid);
  write_host(out, rank);
  write_outcome_fields(out, rank);
  out.field_if(rank.body_began.count() > 0, "body_began_ms", rank.body_began);
  out.field_if(rank.body_ended.count() > 0, "body_ended_ms", rank.body_ended);
  write_errors(out, rank.errors);
  out.key("notes");
  write_key_values(out, rank.notes);
  write_measures(out, rank.measures);
  out.field("stdout", rank.out.text);
  out.field("stderr", rank.err.text);
  out.field("stdout_bytes", rank.out.bytes_total);
  out.field("stderr_bytes", rank.err.bytes_total);
  out.end_object();
}

void write_attempt(JsonWriter& out, const runner::AttemptRecord& attempt) {
  out.begin_object();
  out.field("n", attempt.n);
  out.field("kind", name_of(attempt.kind));
  out.field("verdict", name_of(attempt.verdict));
  out.field("cause", name_of(attempt.cause.kind));
  out.field("message", attempt.message);
  out.field("phase", name_of(attempt.phase));
  out.field("duration_ms", attempt.duration);
  write_array(out, "culprits", attempt.culprits);
  write_hang_causes(out, attempt.hang);
  out.key("leaks");
  write_leaks(out, attempt.leaks);
  out.key("snapshots");
  write_snapshots(out, attempt.snapshots);
  out.field_if(!attempt.infra_error.empty(), "infra_error", attempt.infra_error);
  if (!attempt.trace.empty()) out.field("trace", attempt.trace);
  out.key("ranks");
  out.begin_array();
  for (const runner::RankRecord& rank : attempt.ranks) write_rank(out, rank);
  out.end_array();
  out.end_object();
}

void write_stress(JsonWriter& out, const runner::StressRecord& stress) {
  const runner::Interval interval = runner::failure_interval(stress.failures, stress.runs);
  out.begin_object();
  out.field("runs", stress.runs);
  out.field("failures", stress.failures);
  out.field("p_fail_low", interval.low);
  out.field("p_fail_high", interval.high);
  out.field("total_ms", stress.total);
  out.field("longest_ms", stress.longest);
  out.key("kinds");
  out.begin_array();
  for (const runner::StressFailure& kind : stress.kinds) {
    out.begin_object();
    out.field("verdict", name_of(kind.verdict));
    out.field("message", kind.message);
    out.field("count", kind.count);
    out.field("attempt", kind.attempt);
    out.end_object();
  }
  out.end_array();
  out.end_object();
}

void write_test(JsonWriter& out, const runner::TestRecord& test) {
  out.begin_object();
  out.field("id", test.info.id());
  out.field("suite", test.info.suite);
  out.field("name", test.info.name);
  out.field("plugin", test.plugin);
  out.key("parameters");
  write_parameters(out, test.info.parameters);
  out.key("variant");
  write_variant(out, test.variant);
  out.field("verdict", name_of(test.verdict));
  out.field("message", test.message);
  out.field("duration_ms", test.duration);
  out.field("world_size", test.variant.world_size);
  out.field("file", test.info.file);
  out.field("line", test.info.line);
  out.key("attempts");
  out.begin_array();
  for (const runner::AttemptRecord& attempt : test.attempts) write_attempt(out, attempt);
  out.end_array();
  if (test.stress) {
    out.key("stress");
    write_stress(out, *test.stress);
  }
  out.end_object();
}

void write_problems(JsonWriter& out, const std::vector<runner::Problem>& problems) {
  out.key("problems");
  write_objects(out, problems, [&](const runner::Problem& problem) { write_problem_fields(out, problem); });
}

// Omitted if empty.
void write_texts(JsonWriter& out, const char* key, const std::vector<std::string>& texts) {
  if (!texts.empty()) write_array(out, key, texts);
}

// Omitted if empty.
void write_hosts(JsonWriter& out, const std::vector<runner::HostRecord>& hosts) {
  if (hosts.empty()) return;
  out.key("hosts");
  write_objects(out, hosts, [&](const runner::HostRecord& host) {
    out.field("suite", host.suite);
    out.field("plugin", host.plugin);
    out.field("verdict", name_of(host.verdict));
    out.field("message", host.message);
    out.field("set_up_ms", host.set_up);
    out.field("tear_down_ms", host.tear_down);
    out.key("rank");
    write_rank(out, host.rank);
  });
}

void write_uses(JsonWriter& out, const runner::RunRecord& run) {
  std::vector<std::string_view> uses;
  if (run.uses_backend) uses.emplace_back("backend");
  if (run.uses_agent) uses.emplace_back("agent");
  write_array(out, "uses", uses);
}

void write_run_fields(JsonWriter& out, const runner::RunRecord& run) {
  out.field("schema", kSummarySchema);
  out.field("run_id", run.run_id);
  out.field("started", base::iso8601(run.started_wall_ns));
  out.field("duration_ms", run.duration);
  out.field("exit_code", exit_code_of(run));
  out.field("interrupted", run.interrupted);
  out.field("selected", run.selected);
  write_uses(out, run);
  out.key("machine");
  write_machine(out, run.machine);
  out.key("settings");
  write_settings(out, run.settings);
  out.key("totals");
  write_totals(out, run.totals);
}

}  // namespace

std::string summary_json(const runner::RunRecord& run) {
  JsonWriter out(JsonWriter::Layout::Pretty);
  out.begin_object();
  write_run_fields(out, run);
  write_problems(out, run.problems);
  write_texts(out, "notices", run.notices);
  write_texts(out, "appeared", run.appeared);
  write_hosts(out, run.hosts);
  out.key("tests");
  out.begin_array();
  for (const runner::TestRecord& test : run.tests) write_test(out, test);
  out.end_array();
  out.end_object();
  out.end_line();
  return out.take();
}

}  // namespace distrun::report
