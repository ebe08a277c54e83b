#include <distrun/runner/report/json/read_summary.hpp>

#include <algorithm>
#include <array>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/files/wall_time.hpp>
#include <distrun/runner/report/json/cause_json.hpp>
#include <distrun/runner/report/json/json_fields.hpp>
#include <distrun/runner/report/json/summary.hpp>
#include <distrun/runner/report/json/wrappers_json.hpp>

namespace distrun::report {
namespace {

void read_pairs(const Json& object, const char* name, std::vector<wire::KeyValue>& into) {
  read_each_object(object, name, [&](const Json& item) {
    wire::KeyValue& pair = into.emplace_back();
    read(item, "key", pair.key);
    read(item, "value", pair.value);
  });
}

// Reads --env, of which a report may contain only the names.
void read_environment(const Json& from, runner::Settings& settings) {
  read_pairs(from, "env", settings.env);
  read_each_object(from, "env", [&](const Json& item) {
    if (!item.contains("value")) settings.env_hidden = true;
  });
  settings.env_values = !settings.env.empty() && !settings.env_hidden;
}

std::int64_t wall_ns_of(const Json& run) {
  std::string text;
  read(run, "started", text);
  if (text.empty()) return 0;
  const std::optional<std::int64_t> wall_ns = try_read_wall_time(text);
  if (!wall_ns) refuse_field("started", run.at("started"), "a time like 2026-01-31T12:00:00.000Z");
  return *wall_ns;
}

void read_machine(const Json& from, runner::Machine& machine) {
  read(from, "hostname", machine.hostname);
  read(from, "kernel", machine.kernel);
  read(from, "cpus", machine.cpus);
  read(from, "memory_bytes", machine.memory_bytes);
}

void read_world_sizes(const Json& from, runner::Settings& settings) {
  read_each(from, "world_sizes",
            [&](const Json& item) { settings.world_sizes.push_back(integer_of<int>("world_sizes", item)); });
}

void read_overrides(const Json& from, runner::Settings& settings) {
  read_each_object(from, "overrides", [&](const Json& item) {
    runner::Override& each = settings.overrides.emplace_back();
    read(item, "filter", each.filter);
    read(item, "timeout_ms", each.timeout);
    read(item, "retries", each.retries);
    read(item, "tags", each.tags);
    read(item, "locks", each.locks);
    read(item, "world_size", each.world_size);
  });
}

void read_lock_limits(const Json& from, runner::Settings& settings) {
  read_each_object(from, "lock_limits", [&](const Json& item) {
    runner::LockLimit& each = settings.lock_limits.emplace_back();
    read(item, "lock", each.lock);
    read(item, "tests", each.tests);
  });
}

void read_run_bounds(const Json& from, runner::Settings& settings) {
  read(from, "run_timeout_ms", settings.run_timeout);
  read(from, "stress_ms", settings.stress);
  read(from, "stress_load", settings.stress_load);
  read_lock_limits(from, settings);
}

void read_shard(const Json& from, runner::Shard& shard) {
  read(object_at(from, "shard"), "index", shard.index);
  read(object_at(from, "shard"), "count", shard.count);
}

void read_places(const Json& from, runner::Settings& settings) {
  read(from, "hosts", settings.hosts);
  read(from, "launcher", settings.launcher);
  read(from, "per_host", settings.per_host);
  read_enum(from, "bind", runner::kBindCount, settings.bind);
  read_enum(from, "mpi", runner::kMpiUseCount, settings.mpi);
  read_wrappers(from, settings.wrappers);
}

void read_settings(const Json& from, runner::Settings& settings) {
  read(from, "plugins", settings.plugins);
  read(from, "program", settings.program);
  read(from, "program_name", settings.program_name);
  read(from, "world_size", settings.world_size);
  read_world_sizes(from, settings);
  read(from, "backend", settings.backend);
  read(from, "agent", settings.agent);
  read(from, "rpc_transport", settings.rpc_transport);
  read(from, "faults", settings.faults);
  read(from, "trace", settings.trace_dir);
  read(from, "gpu_driver", settings.gpu_driver);
  read(from, "gpus", settings.gpus);
  read_enum(from, "isolation", base::kIsolationCount, settings.isolation);
  read(from, "filters", settings.filters);
  read(from, "rerun_failed", settings.rerun_failed);
  read_shard(from, settings.shard);
  read(from, "shuffle", settings.shuffle);
  read(from, "timeout_ms", settings.timeout);
  read(from, "timeout_override_ms", settings.timeout_override);
  read(from, "timeout_scale", settings.timeout_scale);
  read(from, "stacks_after_ms", settings.stacks_after);
  read_enum(from, "deadlock", runner::kDeadlockPolicyCount, settings.deadlock);
  settings.suspect_after = {};
  read(from, "suspect_after_ms", settings.suspect_after);
  read(from, "grace_ms", settings.peer_grace);
  read(from, "kill_after_ms", settings.terminate_grace);
  std::string stop_signal;
  read(from, "stop_signal", stop_signal);
  settings.stop_signal = base::try_find_signal(stop_signal).value_or(settings.stop_signal);
  read(from, "debug_rank", settings.debug_rank);
  read(from, "stdin_rank", settings.stdin_rank);
  read(from, "keep_output", settings.keep_output);
  read(from, "jobs", settings.jobs);
  read_places(from, settings);
  read(from, "repeat", settings.repeat);
  read(from, "until_fail", settings.until_fail);
  read(from, "retries", settings.retries);
  read(from, "retry_on", settings.retry_on);
  read(from, "flaky_fails", settings.flaky_fails);
  read_run_bounds(from, settings);
  read_overrides(from, settings);
  read(from, "fail_fast", settings.fail_fast);
  read(from, "seed", settings.seed);
  read_environment(from, settings);
  std::string leaks;
  std::string exit;
  read(from, "leaks", leaks);
  read(from, "exit", exit);
  settings.leaks_off = leaks == "off";
  settings.leaks_strict = leaks == "strict";
  settings.quick_exit = exit == "quick";
  read(from, "core", settings.core);
  read(from, "skips_pass", settings.skips_pass);
  read(from, "keep_work_dir", settings.keep_work_dir);
  read(from, "private_tmp", settings.private_tmp);
  read(from, "config", settings.config);
  read(from, "command_line", settings.command_line);
}

void read_totals(const Json& from, runner::Totals& totals) {
  for (int i = 0; i < runner::kVerdictCount; ++i) {
    read(from, name_of(static_cast<runner::Verdict>(i)), totals[static_cast<std::size_t>(i)]);
  }
}

void read_error(const Json& from, runner::RankError& error) {
  read(from, "type", error.type);
  read(from, "text", error.text);
  read(from, "file", error.file);
  read(from, "line", error.line);
  read(from, "stack", error.stack);
  read(from, "ends_body", error.ended_body);
  read(from, "crash", error.is_crash);
  read(from, "because_of", error.because_of);
  read(from, "at_ms", error.at);
}

void read_outcome(const Json& from, runner::RankRecord& rank) {
  runner::Outcome& outcome = rank.outcome;
  read_enum(from, "outcome", static_cast<int>(runner::OutcomeKind::KilledByUs) + 1, outcome.kind);
  read(from, "exit_code", rank.exit_code);
  read(from, "signal", rank.signal);
  read(from, "reason", outcome.text);
  switch (outcome.kind) {
    case runner::OutcomeKind::Exited: outcome.value = rank.exit_code; break;
    case runner::OutcomeKind::Signaled: outcome.value = rank.signal; break;
    case runner::OutcomeKind::Skipped: read(from, "skip_code", outcome.value); break;
    default: break;
  }
}

void read_rank(const Json& from, runner::RankRecord& rank) {
  read(from, "rank", rank.rank);
  read(from, "pid", rank.pid);
  read(from, "host", rank.host);
  read_outcome(from, rank);
  read_enum(from, "phase", wire::kPhaseCount, rank.phase);
  read(from, "checks", rank.checks);
  read(from, "started_ms", rank.started);
  base::Nanoseconds duration{};
  read(from, "duration_ms", duration);
  rank.ended = rank.started + duration;
  read(from, "body_began_ms", rank.body_began);
  read(from, "body_ended_ms", rank.body_ended);
  read(from, "waiting_in", rank.waiting_in);
  read(from, "because_of", rank.because_of);
  read(from, "declared_death", rank.declared_death);
  read_each_object(from, "errors", [&](const Json& item) { read_error(item, rank.errors.emplace_back()); });
  read_pairs(from, "notes", rank.notes);
  read_each_object(from, "measures", [&](const Json& item) {
    wire::Measure& measure = rank.measures.emplace_back();
    read(item, "name", measure.name);
    read(item, "value", measure.value);
    read(item, "unit", measure.unit);
  });
  read(from, "stdout", rank.out.text);
  read(from, "stderr", rank.err.text);
  read(from, "stdout_bytes", rank.out.bytes_total);
  read(from, "stderr_bytes", rank.err.bytes_total);
}

void read_leak(const Json& from, runner::Leak& leak) {
  read_enum(from, "kind", runner::kLeakKindCount, leak.kind);
  read(from, "what", leak.what);
  read(from, "removed", leak.removed);
}

// Reads the text for people and its times; the table of frames is for machines.
void read_snapshot(const Json& from, runner::Snapshot& snapshot) {
  read_enum(from, "why", runner::kSnapshotKindCount, snapshot.kind);
  read(from, "at_ms", snapshot.at);
  read(from, "took_ms", snapshot.took);
  read_each(from, "text", [&](const Json& item) {
    if (!item.is_string()) refuse_field("text", item, "a list of strings");
    snapshot.text.emplace_back().add(evidence::Tone::Plain, base::one_line(item.get<std::string>()));
  });
}

void read_attempt(const Json& from, runner::AttemptRecord& attempt) {
  read(from, "n", attempt.n);
  read_enum(from, "kind", static_cast<int>(runner::AttemptKind::Retry) + 1, attempt.kind);
  read_enum(from, "verdict", runner::kVerdictCount, attempt.verdict);
  attempt.cancelled = attempt.verdict == runner::Verdict::Cancelled;
  read_enum(from, "cause", runner::kCauseKindCount, attempt.cause.kind);
  read(from, "message", attempt.message);
  read_enum(from, "phase", wire::kPhaseCount, attempt.phase);
  read(from, "duration_ms", attempt.duration);
  read_each(from, "culprits", [&](const Json& item) { attempt.culprits.push_back(integer_of<int>("culprits", item)); });
  read_each_object(from, "hang_causes", [&](const Json& item) { attempt.hang.push_back(read_hang_cause(item)); });
  read_each_object(from, "leaks", [&](const Json& item) { read_leak(item, attempt.leaks.emplace_back()); });
  read_each_object(from, "snapshots", [&](const Json& item) { read_snapshot(item, attempt.snapshots.emplace_back()); });
  read(from, "infra_error", attempt.infra_error);
  read(from, "trace", attempt.trace);
  read_each_object(from, "ranks", [&](const Json& item) { read_rank(item, attempt.ranks.emplace_back()); });
  for (runner::HangCause& cause : attempt.hang) cause.hosts = hosts_of(attempt);
}

void read_variant(const Json& from, runner::Variant& variant) {
  read(from, "world_size", variant.world_size);
  read(from, "backend", variant.backend);
  read(from, "agent", variant.agent);
  read(from, "gpu_driver", variant.gpu_driver);
  read_enum(from, "isolation", base::kIsolationCount, variant.isolation);
  read(from, "isolation_reason", variant.isolation_reason);
}

void read_stress(const Json& from, runner::StressRecord& stress) {
  read(from, "runs", stress.runs);
  read(from, "failures", stress.failures);
  read(from, "total_ms", stress.total);
  read(from, "longest_ms", stress.longest);
  read_each_object(from, "kinds", [&](const Json& item) {
    runner::StressFailure& kind = stress.kinds.emplace_back();
    read_enum(item, "verdict", runner::kVerdictCount, kind.verdict);
    read(item, "message", kind.message);
    read(item, "count", kind.count);
    read(item, "attempt", kind.attempt);
  });
}

void read_test(const Json& from, runner::TestRecord& test) {
  read(from, "suite", test.info.suite);
  read(from, "name", test.info.name);
  read(from, "plugin", test.plugin);
  for (const auto& [key, value] : object_at(from, "parameters").items()) {
    if (!value.is_string()) refuse_field("parameters", value, "a string");
    test.info.parameters.push_back({key, value.get<std::string>()});
  }
  read_variant(object_at(from, "variant"), test.variant);
  test.info.world_size = test.variant.world_size;
  std::string id;
  read(from, "id", id);
  test.info.has_size_in_id = id.ends_with(" [np=" + std::to_string(test.info.world_size) + "]");
  read_enum(from, "verdict", runner::kVerdictCount, test.verdict);
  read(from, "message", test.message);
  read(from, "duration_ms", test.duration);
  read(from, "file", test.info.file);
  read(from, "line", test.info.line);
  read_each_object(from, "attempts", [&](const Json& item) { read_attempt(item, test.attempts.emplace_back()); });
  if (find(from, "stress") != nullptr) read_stress(object_at(from, "stress"), test.stress.emplace());
}

void read_host(const Json& from, runner::HostRecord& host) {
  read(from, "suite", host.suite);
  read(from, "plugin", host.plugin);
  read_enum(from, "verdict", runner::kVerdictCount, host.verdict);
  read(from, "message", host.message);
  read(from, "set_up_ms", host.set_up);
  read(from, "tear_down_ms", host.tear_down);
  read_rank(object_at(from, "rank"), host.rank);
}

void check_schema(const Json& found) {
  const std::string read_here = kSummarySchema;
  if (!found.is_string()) refuse_field("schema", found, "a string");
  const auto& name = found.get_ref<const std::string&>();
  if (name == read_here || name.starts_with(read_here + ".")) return;  // "/1.2" extends "/1"
  refuse("the schema is \"" + base::one_line(name, 60) + "\", but this program reads " + read_here);
}

// Removes each test from the document as soon as it is complete, so that a large summary is never a tree in memory.
class Reader {
 public:
  runner::RunRecord read_run(std::string_view text) {
    const Json rest = Json::parse(
        text, [this](int depth, Json::parse_event_t event, Json& item) { return keep(depth, event, item); });
    if (!rest.is_object() || !schema_seen_) refuse("not a summary: it has no schema");
    refuse_odd_tests(rest);
    read(rest, "run_id", run_.run_id);
    run_.started_wall_ns = wall_ns_of(rest);
    read(rest, "duration_ms", run_.duration);
    read(rest, "interrupted", run_.interrupted);
    read(rest, "selected", run_.selected);
    read_uses(rest);
    read_machine(object_at(rest, "machine"), run_.machine);
    read_settings(object_at(rest, "settings"), run_.settings);
    read_totals(object_at(rest, "totals"), run_.totals);
    read_each_object(rest, "problems", [this](const Json& item) {
      runner::Problem& problem = run_.problems.emplace_back();
      read(item, "plugin", problem.plugin);
      read(item, "phase", problem.phase);
      read(item, "text", problem.text);
    });
    read(rest, "notices", run_.notices);
    read(rest, "appeared", run_.appeared);
    read_each_object(rest, "hosts", [this](const Json& item) { read_host(item, run_.hosts.emplace_back()); });
    return std::move(run_);
  }

 private:
  // A summary of an earlier version does not say, and its run showed both.
  void read_uses(const Json& from) {
    std::vector<std::string> uses{"backend", "agent"};
    if (find(from, "uses") != nullptr) uses.clear();
    read(from, "uses", uses);
    run_.uses_backend = std::find(uses.begin(), uses.end(), "backend") != uses.end();
    run_.uses_agent = std::find(uses.begin(), uses.end(), "agent") != uses.end();
  }

  bool keep(int depth, Json::parse_event_t event, Json& item) {
    using Event = Json::parse_event_t;
    if (depth == 1 && event == Event::key) key_ = item.get<std::string>();
    if (depth == 1 && event == Event::value && key_ == "schema") {
      check_schema(item);
      schema_seen_ = true;
    }
    if (depth != 2 || event != Event::object_end || key_ != "tests") return true;
    take_test(item);
    return false;
  }

  // Objects have been removed from the list; any remaining element is not an object.
  static void refuse_odd_tests(const Json& rest) {
    const Json* left = find(rest, "tests");
    if (left != nullptr && !(left->is_array() && left->empty())) refuse_field("tests", *left, "a list of objects");
  }

  void take_test(const Json& item) {
    try {
      read_test(item, run_.tests.emplace_back());
    } catch (Error& error) {
      error.while_doing("test " + std::to_string(run_.tests.size()));
      throw;
    }
  }

  runner::RunRecord run_;
  std::string key_;  // the last key of the document itself
  bool schema_seen_ = false;
};

}  // namespace

runner::RunRecord read_summary(std::string_view json) {
  try {
    return Reader().read_run(json);
  } catch (const Json::parse_error& error) {
    refuse("not valid JSON: error at byte " + std::to_string(error.byte) + " of " + std::to_string(json.size()));
  } catch (const Json::exception& error) {
    refuse(std::string("not a summary: ") + error.what());
  }
}

}  // namespace distrun::report
