#include <distrun/runner/history/recorder.hpp>

#include <algorithm>
#include <map>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/history/column_values.hpp>
#include <distrun/runner/history/limits.hpp>
#include <distrun/runner/history/statistics.hpp>
#include <distrun/runner/plan/ordering.hpp>
#include <distrun/runner/record/outcome.hpp>

namespace distrun::history {
namespace {

std::int64_t microseconds(base::Nanoseconds duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

// Takes one attempt: a test that was repeated a hundred times has not become slower.
base::Nanoseconds attempt_duration(const runner::TestRecord& test) {
  base::Nanoseconds good{};
  base::Nanoseconds any{};
  for (const runner::AttemptRecord& attempt : test.attempts) {
    any = std::max(any, attempt.duration);
    if (runner::is_good(attempt.verdict)) good = std::max(good, attempt.duration);
  }
  return good > base::Nanoseconds{} ? good : any;
}

}  // namespace

Recorder::Recorder(Database& database, int results_max)
    : database_(database),
      results_max_(results_max),
      find_test_(database, "SELECT id FROM test WHERE project = ? AND plugin = ? AND name = ?"),
      adopt_test_(database, "UPDATE test SET project = ? WHERE project = '' AND plugin = ? AND name = ? RETURNING id"),
      add_test_(database, "INSERT INTO test (project, plugin, name) VALUES (?, ?, ?) RETURNING id"),
      find_variant_(database,
                    "SELECT id FROM variant WHERE world_size = ? AND backend = ? AND agent = ? AND isolation = ?"),
      add_variant_(database,
                   "INSERT INTO variant (world_size, backend, agent, isolation) VALUES (?, ?, ?, ?) RETURNING id"),
      add_result_(database, "INSERT INTO result VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      newest_(database,
              "SELECT verdict, duration_us FROM result WHERE test = ? "
              "AND verdict NOT IN ('skip', 'cancelled', 'infra-error') "
              "ORDER BY at_ms DESC, run DESC, position DESC LIMIT ?"),
      update_test_(database, "UPDATE test SET last_verdict = ?, median_us = ? WHERE id = ?"),
      first_too_old_(database,
                     "SELECT at_ms, run, position FROM result WHERE test = ? "
                     "ORDER BY at_ms DESC, run DESC, position DESC LIMIT 1 OFFSET ?"),
      drop_from_(database, "DELETE FROM result WHERE test = ? AND (at_ms, run, position) <= (?, ?, ?)") {}

bool Recorder::record(const runner::RunRecord& run,
                      const std::function<std::string(const std::string& plugin)>& project_of) {
  const std::int64_t at_ms = run.started_wall_ns / 1'000'000;
  Statement add_run(database_,
                    "INSERT INTO run (run_id, at_ms, duration_us, host, exit_code) VALUES (?, ?, ?, ?, ?) "
                    "ON CONFLICT DO NOTHING RETURNING id");
  const std::optional<std::int64_t> id = add_run.first(base::one_line(run.run_id), at_ms, microseconds(run.duration),
                                                       base::one_line(run.machine.hostname), runner::exit_code_of(run));
  if (!id) return false;
  std::int64_t position = 0;
  std::map<std::string, std::string> projects;  // by plugin: finding a project reads directories
  for (const runner::TestRecord& test : run.tests) {
    const auto [project, is_new] = projects.try_emplace(test.plugin);
    if (is_new) project->second = base::valid_utf8(project_of(test.plugin));
    record_test(test, project->second, *id, at_ms, position++);
  }
  return true;
}

void Recorder::record_test(const runner::TestRecord& test, const std::string& project, std::int64_t run,
                           std::int64_t at_ms, std::int64_t position) {
  const std::int64_t id = test_of(test, project);
  add_result_.run(id, at_ms, run, position, variant_of(test.variant), name_of(test.verdict),
                  microseconds(attempt_duration(test)), static_cast<std::int64_t>(test.attempts.size()),
                  base::one_line(test.message, kMessageMax));
  update(id);
  drop_oldest(id);
}

std::int64_t Recorder::test_of(const runner::TestRecord& test, const std::string& project) {
  const std::string plugin = base::one_line(runner::plugin_name(test.plugin));
  const std::string name = base::valid_utf8(test.info.id());
  if (const auto id = find_test_.first(project, plugin, name)) return *id;
  if (const auto id = adopt_test_.first(project, plugin, name)) return *id;
  return add_test_.first(project, plugin, name).value();
}

std::int64_t Recorder::variant_of(const runner::Variant& variant) {
  const std::string backend = base::one_line(variant.backend);
  const std::string agent = base::one_line(variant.agent);
  const std::string isolation = name_of(variant.isolation);
  if (const auto id = find_variant_.first(variant.world_size, backend, agent, isolation)) return *id;
  return add_variant_.first(variant.world_size, backend, agent, isolation).value();
}

void Recorder::update(std::int64_t test) {
  Tally tally;
  newest_.with(test, kWindow);
  while (newest_.step()) {
    tally.add(verdict_named(newest_.text(0)), duration_of(newest_.integer(1)));
  }
  const Statistics statistics = tally.take();
  if (statistics.last) update_test_.run(name_of(*statistics.last), microseconds(statistics.median), test);
}

void Recorder::drop_oldest(std::int64_t test) {
  first_too_old_.with(test, results_max_);
  if (!first_too_old_.step()) return;
  const std::int64_t at_ms = first_too_old_.integer(0);
  const std::int64_t run = first_too_old_.integer(1);
  const std::int64_t position = first_too_old_.integer(2);
  while (first_too_old_.step()) {
  }
  drop_from_.run(test, at_ms, run, position);
}

}  // namespace distrun::history
