#include <distrun/runner/report/json/json_parts.hpp>
#include <distrun/runner/report/text/reported_settings.hpp>

#include <csignal>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/json/wrappers_json.hpp>

namespace distrun::report {

using runner::OutcomeKind;

void write_machine(JsonWriter& out, const runner::Machine& machine) {
  out.begin_object();
  out.field("hostname", machine.hostname);
  out.field("kernel", machine.kernel);
  out.field("cpus", machine.cpus);
  out.field("memory_bytes", machine.memory_bytes);
  out.end_object();
}

namespace {

void write_shard(JsonWriter& out, const runner::Shard& shard) {
  out.key("shard");
  out.begin_object();
  out.field("index", shard.index);
  out.field("count", shard.count);
  out.end_object();
}

void write_overrides(JsonWriter& out, const std::vector<runner::Override>& overrides) {
  out.key("overrides");
  write_objects(out, overrides, [&](const runner::Override& each) {
    out.field("filter", each.filter);
    if (each.timeout.count() > 0) out.field("timeout_ms", each.timeout);
    if (each.retries >= 0) out.field("retries", each.retries);
    if (!each.tags.empty()) write_array(out, "tags", each.tags);
    if (!each.locks.empty()) write_array(out, "locks", each.locks);
    if (each.world_size > 0) out.field("world_size", each.world_size);
  });
}

void write_lock_limits(JsonWriter& out, const std::vector<runner::LockLimit>& limits) {
  out.key("lock_limits");
  write_objects(out, limits, [&](const runner::LockLimit& each) {
    out.field("lock", each.lock);
    out.field("tests", each.tests);
  });
}

void write_environment(JsonWriter& out, const runner::Settings& settings) {
  out.key("env");
  if (!settings.env_hidden) return write_key_values(out, settings.env);
  out.begin_array();
  for (const wire::KeyValue& pair : settings.env) {
    out.begin_object();
    out.field("key", pair.key);
    out.end_object();
  }
  out.end_array();
}

// Writes where and how ranks run; what is not set is left out.
void write_places(JsonWriter& out, const runner::Settings& settings) {
  if (!settings.hosts.empty()) out.field("hosts", settings.hosts);
  if (!settings.launcher.empty()) out.field("launcher", settings.launcher);
  if (settings.per_host > 0) out.field("per_host", settings.per_host);
  if (settings.bind != runner::Bind::None) out.field("bind", name_of(settings.bind));
  write_wrappers(out, settings.wrappers);
  if (settings.core) out.field("core", settings.core);
}

}  // namespace

void write_settings(JsonWriter& out, const runner::Settings& all) {
  const runner::Settings settings = reported(all);
  out.begin_object();
  write_array(out, "plugins", settings.plugins);
  if (!settings.program.empty()) write_array(out, "program", settings.program);
  if (!settings.program_name.empty()) out.field("program_name", settings.program_name);
  out.field("world_size", settings.world_size);
  if (!settings.world_sizes.empty()) write_array(out, "world_sizes", settings.world_sizes);
  out.field("backend", settings.backend);
  out.field("agent", settings.agent);
  out.field("rpc_transport", settings.rpc_transport);
  if (!settings.faults.empty()) out.field("faults", settings.faults);
  if (!settings.trace_dir.empty()) out.field("trace", settings.trace_dir);
  out.field("gpu_driver", settings.gpu_driver);
  out.field("gpus", settings.gpus);
  out.field("isolation", name_of(settings.isolation));
  write_array(out, "filters", settings.filters);
  out.field_if(!settings.rerun_failed.empty(), "rerun_failed", settings.rerun_failed);
  write_shard(out, settings.shard);
  out.field("shuffle", settings.shuffle);
  out.field("timeout_ms", settings.timeout);
  out.field_if(settings.timeout_override.count() > 0, "timeout_override_ms", settings.timeout_override);
  out.field("timeout_scale", settings.timeout_scale);
  out.field_if(settings.stacks_after.count() > 0, "stacks_after_ms", settings.stacks_after);
  out.field("deadlock", name_of(settings.deadlock));
  out.field_if(settings.suspect_after.count() > 0, "suspect_after_ms", settings.suspect_after);
  out.field("grace_ms", settings.peer_grace);
  out.field("kill_after_ms", settings.terminate_grace);
  if (settings.stop_signal != SIGTERM) out.field("stop_signal", base::signal_name(settings.stop_signal));
  out.field_if(settings.debug_rank >= 0, "debug_rank", settings.debug_rank);
  out.field_if(settings.stdin_rank >= 0, "stdin_rank", settings.stdin_rank);
  out.field("keep_output", settings.keep_output);
  if (settings.mpi != runner::MpiUse::Auto) out.field("mpi", name_of(settings.mpi));
  out.field("jobs", settings.jobs);
  write_places(out, settings);
  if (!settings.lock_limits.empty()) write_lock_limits(out, settings.lock_limits);
  out.field("repeat", settings.repeat);
  out.field_if(settings.until_fail > 0, "until_fail", settings.until_fail);
  out.field("retries", settings.retries);
  if (!settings.retry_on.empty()) write_array(out, "retry_on", settings.retry_on);
  out.field("flaky_fails", settings.flaky_fails);
  if (settings.run_timeout.count() > 0) out.field("run_timeout_ms", settings.run_timeout);
  if (settings.stress.count() > 0) {
    out.field("stress_ms", settings.stress);
    write_array(out, "stress_load", settings.stress_load);
  }
  if (!settings.overrides.empty()) write_overrides(out, settings.overrides);
  out.field("fail_fast", settings.fail_fast);
  out.field("seed", settings.seed);
  write_environment(out, settings);
  out.field("leaks", settings.leaks_off ? "off" : settings.leaks_strict ? "strict" : "normal");
  out.field("exit", settings.quick_exit ? "quick" : "handlers");
  out.field("skips_pass", settings.skips_pass);
  out.field("keep_work_dir", settings.keep_work_dir);
  out.field("private_tmp", settings.private_tmp);
  out.field_if(!settings.config.empty(), "config", settings.config);
  write_array(out, "command_line", settings.command_line);
  out.end_object();
}

void write_totals(JsonWriter& out, const runner::Totals& totals) {
  out.begin_object();
  for (int i = 0; i < runner::kVerdictCount; ++i) {
    out.field(name_of(static_cast<runner::Verdict>(i)), totals[static_cast<std::size_t>(i)]);
  }
  out.end_object();
}

void write_variant(JsonWriter& out, const runner::Variant& variant) {
  out.begin_object();
  out.field("world_size", variant.world_size);
  out.field("backend", variant.backend);
  out.field("agent", variant.agent);
  out.field("gpu_driver", variant.gpu_driver);
  out.field("isolation", name_of(variant.isolation));
  out.field("isolation_reason", variant.isolation_reason);
  out.end_object();
}

void write_parameters(JsonWriter& out, const std::vector<wire::KeyValue>& parameters) {
  out.begin_object();
  for (const wire::KeyValue& parameter : parameters) out.field(parameter.key, parameter.value);
  out.end_object();
}

void write_key_values(JsonWriter& out, const std::vector<wire::KeyValue>& pairs) {
  write_objects(out, pairs, [&](const wire::KeyValue& pair) {
    out.field("key", pair.key);
    out.field("value", pair.value);
  });
}

void write_measures(JsonWriter& out, const std::vector<wire::Measure>& measures) {
  out.key("measures");
  write_objects(out, measures, [&](const wire::Measure& measure) {
    out.field("name", measure.name);
    out.field("value", measure.value);
    out.field("unit", measure.unit);
  });
}

void write_leaks(JsonWriter& out, const std::vector<runner::Leak>& leaks) {
  write_objects(out, leaks, [&](const runner::Leak& leak) {
    out.field("kind", name_of(leak.kind));
    out.field("what", leak.what);
    out.field("removed", leak.removed);
  });
}

void write_problem_fields(JsonWriter& out, const runner::Problem& problem) {
  out.field("plugin", problem.plugin);
  out.field("phase", problem.phase);
  out.field("text", problem.text);
}

void write_error_fields(JsonWriter& out, const runner::RankError& error) {
  out.field("type", error.type);
  out.field("text", error.text);
  out.field("file", error.file);
  out.field("line", error.line);
  out.field("stack", error.stack);
  out.field("ends_body", error.ended_body);
  out.field("crash", error.is_crash);
  out.field_if(error.because_of >= 0, "because_of", error.because_of);
  out.field("at_ms", error.at);
}

void write_host(JsonWriter& out, const runner::RankRecord& rank) {
  if (!rank.host.empty()) out.field("host", rank.host);
}

void write_outcome_fields(JsonWriter& out, const runner::RankRecord& rank) {
  const runner::Outcome& outcome = rank.outcome;
  out.field("outcome", name_of(outcome.kind));
  out.field_if(rank.exit_code >= 0, "exit_code", rank.exit_code);
  out.field_if(rank.signal > 0, "signal", rank.signal);
  out.field_if(outcome.kind == OutcomeKind::Skipped, "skip_code", outcome.value);
  out.field("reason", outcome.text);
  out.field("phase", name_of(rank.phase));
  out.field("checks", rank.checks);
  out.field("started_ms", rank.started);
  out.field("duration_ms", rank.ended - rank.started);
  out.field("waiting_in", rank.waiting_in);
  out.field_if(rank.because_of >= 0, "because_of", rank.because_of);
  out.field("declared_death", rank.declared_death);
}

}  // namespace distrun::report
