#include <distrun/runner/report/json/ctrf.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include <distrun/runner/report/json/ctrf_case.hpp>
#include <distrun/runner/report/json/json_parts.hpp>

namespace distrun::report {
namespace {

constexpr char kSpecVersion[] = "0.0.0";
constexpr std::int64_t kNsPerMs = 1'000'000;

// Sums of whole milliseconds: a summary keeps no more of the start, and a report made of it must say the same.
std::int64_t start_ms(const runner::RunRecord& run) { return run.started_wall_ns / kNsPerMs; }
std::int64_t stop_ms(const runner::RunRecord& run) { return start_ms(run) + run.duration.count() / kNsPerMs; }

// A summary may name any times, even such whose sum no clock can show.
std::string timestamp(const runner::RunRecord& run) {
  constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max() / kNsPerMs;
  return base::iso8601(std::clamp<std::int64_t>(stop_ms(run), 0, kLatest) * kNsPerMs);
}

class Counts {
 public:
  explicit Counts(const runner::RunRecord& run) {
    for (const runner::TestRecord& test : run.tests) {
      ++of_[static_cast<std::size_t>(ctrf_status(test.verdict))];
      suites_.emplace(test.plugin, test.info.suite);
    }
    of_[static_cast<std::size_t>(CtrfStatus::Failed)] += run.problems.size();
    tests_ = run.tests.size() + run.problems.size();
  }

  void write(JsonWriter& out) const {
    out.field("tests", tests_);
    for (int i = 0; i < kCtrfStatusCount; ++i) {
      out.field(name_of(static_cast<CtrfStatus>(i)), of_[static_cast<std::size_t>(i)]);
    }
    out.field("suites", suites_.size());
  }

 private:
  std::array<std::size_t, kCtrfStatusCount> of_{};
  std::size_t tests_ = 0;
  std::set<std::pair<std::string, std::string>> suites_;  // plugin and suite
};

void write_tool(JsonWriter& out) {
  out.key("tool");
  out.begin_object();
  out.field("name", "distrun");
  out.end_object();
}

void write_summary(JsonWriter& out, const runner::RunRecord& run) {
  out.key("summary");
  out.begin_object();
  Counts(run).write(out);
  out.field("flaky", run.total(runner::Verdict::Flaky));
  out.field("start", start_ms(run));
  out.field("stop", stop_ms(run));
  out.field("duration", run.duration.count() / kNsPerMs);
  out.key("extra");
  out.begin_object();
  out.field("exit_code", exit_code_of(run));
  out.field("interrupted", run.interrupted);
  out.key("verdicts");
  write_totals(out, run.totals);
  out.end_object();
  out.end_object();
}

void write_tests(JsonWriter& out, const runner::RunRecord& run) {
  out.key("tests");
  out.begin_array();
  for (const runner::Problem& problem : run.problems) write_ctrf_problem(out, problem);
  for (const runner::TestRecord& test : run.tests) write_ctrf_case(out, run.settings, test);
  out.end_array();
}

void write_environment(JsonWriter& out, const runner::RunRecord& run) {
  const runner::Settings& settings = run.settings;
  out.key("environment");
  out.begin_object();
  out.field("osPlatform", "linux");
  out.field("osRelease", run.machine.kernel);
  out.key("extra");
  out.begin_object();
  out.field("hostname", run.machine.hostname);
  out.field("cpus", run.machine.cpus);
  out.field("world_size", settings.world_size);
  out.field("backend", settings.backend);
  out.field("agent", settings.agent);
  out.field("gpu_driver", settings.gpu_driver);
  out.field("isolation", settings.isolation);
  out.field("seed", settings.seed);
  out.end_object();
  out.end_object();
}

}  // namespace

std::string ctrf_json(const runner::RunRecord& run) {
  JsonWriter out(JsonWriter::Layout::Pretty);
  out.begin_object();
  out.field("reportFormat", "CTRF");
  out.field("specVersion", kSpecVersion);
  out.field("timestamp", timestamp(run));
  out.field("generatedBy", "distrun");
  out.key("results");
  out.begin_object();
  write_tool(out);
  write_summary(out, run);
  write_tests(out, run);
  write_environment(out, run);
  out.end_object();
  out.key("extra");
  out.begin_object();
  out.field("run_id", run.run_id);
  out.end_object();
  out.end_object();
  out.end_line();
  return out.take();
}

}  // namespace distrun::report
