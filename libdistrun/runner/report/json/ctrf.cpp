#include <distrun/runner/report/json/ctrf.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <set>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/json/json_parts.hpp>
#include <distrun/runner/report/json/json_writer.hpp>
#include <distrun/runner/report/text/attempt_text.hpp>
#include <distrun/runner/report/text/case_parts.hpp>
#include <distrun/runner/report/text/excerpt.hpp>
#include <distrun/runner/report/text/failure_text.hpp>
#include <distrun/runner/report/text/measured.hpp>
#include <distrun/runner/report/text/repeat_command.hpp>
#include <distrun/runner/report/text/reported_settings.hpp>

namespace distrun::report {
namespace {

enum class CtrfStatus : std::uint8_t { Passed, Failed, Skipped, Pending, Other };
constexpr int kCtrfStatusCount = 5;

using runner::AttemptKind;
using runner::AttemptRecord;
using runner::TestRecord;
using runner::Verdict;

const char* name_of(CtrfStatus status) noexcept {
  switch (status) {
    case CtrfStatus::Passed: return "passed";
    case CtrfStatus::Failed: return "failed";
    case CtrfStatus::Skipped: return "skipped";
    case CtrfStatus::Pending: return "pending";
    case CtrfStatus::Other: return "other";
  }
  return "other";
}

CtrfStatus ctrf_status(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::Pass:
    case Verdict::Flaky: return CtrfStatus::Passed;
    case Verdict::Skip: return CtrfStatus::Skipped;
    case Verdict::Cancelled: return CtrfStatus::Other;
    default: return CtrfStatus::Failed;
  }
}

// Readers keep the whole report in memory, so every part is bounded.
struct Bounds {
  std::size_t trace;
  std::size_t output;  // of stdout and of stderr each
};
constexpr Bounds kOfTest{64U << 10U, 50U << 10U};
constexpr Bounds kOfRetry{8U << 10U, 4U << 10U};
constexpr std::size_t kMessageMax = 4000;
constexpr std::size_t kRetriesTold = 10;  // with trace and output; the others are shortened

std::int64_t whole_ms(base::Nanoseconds duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

// The format requires non-empty names.
std::string named(std::string name) { return name.empty() ? "(no name)" : name; }

bool went_well(Verdict verdict) { return verdict == Verdict::Pass || verdict == Verdict::Skip; }

// Returns the attempts that were followed by a retry.
std::vector<const AttemptRecord*> tried_again(const TestRecord& test) {
  std::vector<const AttemptRecord*> attempts;
  for (std::size_t i = 1; i < test.attempts.size(); ++i) {
    if (test.attempts[i].kind == AttemptKind::Retry) attempts.push_back(&test.attempts[i - 1]);
  }
  return attempts;
}

void write_lines(JsonWriter& out, const char* name, const std::string& text) {
  if (!text.empty()) write_array(out, name, base::split_lines(text));
}

void write_message(JsonWriter& out, const std::string& text) {
  const std::string message = base::one_line(text, kMessageMax);
  if (!message.empty()) out.field("message", message);
}

void write_evidence(JsonWriter& out, const AttemptRecord& attempt, const Bounds& bounds) {
  const std::string trace = excerpt_bytes(attempt_text(attempt, Paint(false)), bounds.trace);
  if (!trace.empty()) out.field("trace", trace);
  write_lines(out, "stdout", rank_output(attempt, &runner::RankRecord::out, bounds.output));
  write_lines(out, "stderr", rank_output(attempt, &runner::RankRecord::err, bounds.output));
}

void write_attempt_extra(JsonWriter& out, const AttemptRecord& attempt) {
  out.field("phase", name_of(attempt.phase));
  write_array(out, "culprits", attempt.culprits);
  out.key("leaks");
  write_leaks(out, attempt.leaks);
}

void write_retry(JsonWriter& out, const TestRecord& test, const AttemptRecord& attempt, bool in_full) {
  out.begin_object();
  out.field("attempt", attempt.n);
  out.field("status", name_of(ctrf_status(attempt.verdict)));
  out.field("duration", whole_ms(attempt.duration));
  write_message(out, attempt.message);
  if (const SourcePlace place = failure_place(test, &attempt); place.line > 0) out.field("line", place.line);
  if (in_full) write_evidence(out, attempt, kOfRetry);
  out.key("extra");
  out.begin_object();
  out.field("verdict", name_of(attempt.verdict));
  write_attempt_extra(out, attempt);
  out.end_object();
  out.end_object();
}

void write_retries(JsonWriter& out, const TestRecord& test) {
  const auto attempts = tried_again(test);
  out.field("retries", attempts.size());
  if (attempts.empty()) return;
  out.key("retryAttempts");
  out.begin_array();
  for (std::size_t i = 0; i < attempts.size(); ++i) write_retry(out, test, *attempts[i], i < kRetriesTold);
  out.end_array();
}

void write_ranks(JsonWriter& out, const AttemptRecord& attempt) {
  out.key("ranks");
  out.begin_array();
  for (const runner::RankRecord& rank : attempt.ranks) {
    out.begin_object();
    out.field("rank", rank.rank);
    write_host(out, rank);
    write_outcome_fields(out, rank);
    out.end_object();
  }
  out.end_array();
}

void write_measured(JsonWriter& out, const TestRecord& test) {
  const std::vector<Measured> all = measured(test);
  if (all.empty()) return;
  out.key("measured");
  write_objects(out, all, [&](const Measured& each) {
    out.field("name", each.name);
    out.field("unit", each.unit);
    write_array(out, "ranks", each.ranks);
    write_array(out, "values", each.values);
  });
}

void write_extra(JsonWriter& out, const runner::Settings& settings, const TestRecord& test,
                 const AttemptRecord* telling) {
  out.key("extra");
  out.begin_object();
  out.field("id", test.info.id());
  out.field("plugin", test.plugin);
  out.key("variant");
  write_variant(out, test.variant);
  out.field("attempts", test.attempts.size());
  write_measured(out, test);
  if (!went_well(test.verdict)) out.field("again", repeat_command(reported(settings), test));
  if (telling != nullptr) {
    write_attempt_extra(out, *telling);
    write_ranks(out, *telling);
  }
  out.end_object();
}

void write_ctrf_case(JsonWriter& out, const runner::Settings& settings, const TestRecord& test) {
  const AttemptRecord* telling = went_well(test.verdict) ? nullptr : telling_attempt(test);
  out.begin_object();
  out.field("name", named(case_name(test)));
  out.field("status", name_of(ctrf_status(test.verdict)));
  out.field("rawStatus", name_of(test.verdict));
  out.field("duration", whole_ms(test.duration));
  write_array(out, "suite", std::vector<std::string>{plugin_name(test), test.info.suite});
  if (!test.info.file.empty()) out.field("filePath", test.info.file);
  if (test.info.line > 0) out.field("line", test.info.line);
  if (!test.info.parameters.empty()) {
    out.key("parameters");
    write_parameters(out, test.info.parameters);
  }
  write_message(out, test.message);
  if (telling != nullptr) write_evidence(out, *telling, kOfTest);
  write_retries(out, test);
  out.field("flaky", test.verdict == Verdict::Flaky);
  write_extra(out, settings, test, telling);
  out.end_object();
}

void write_ctrf_problem(JsonWriter& out, const runner::Problem& problem) {
  out.begin_object();
  out.field("name", named(problem.plugin.empty() ? problem.phase : problem.phase + " " + problem.plugin));
  out.field("status", name_of(CtrfStatus::Failed));
  out.field("rawStatus", "problem");
  out.field("duration", 0);
  write_array(out, "suite", std::vector<std::string>{"distrun"});
  write_message(out, problem.text);
  out.field("trace", excerpt_bytes(problem.text, kOfTest.trace));
  out.key("extra");
  out.begin_object();
  out.field("plugin", problem.plugin);
  out.field("phase", problem.phase);
  out.end_object();
  out.end_object();
}

constexpr char kSpecVersion[] = "0.0.0";
constexpr std::int64_t kNsPerMs = 1'000'000;

// Sums of whole milliseconds: a summary stores only those, and its reports must show the same.
std::int64_t start_ms(const runner::RunRecord& run) { return run.started_wall_ns / kNsPerMs; }
std::int64_t stop_ms(const runner::RunRecord& run) { return start_ms(run) + run.duration.count() / kNsPerMs; }

// A summary may contain any times, even ones with a sum beyond the range of the clock.
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
  out.field("isolation", name_of(settings.isolation));
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
