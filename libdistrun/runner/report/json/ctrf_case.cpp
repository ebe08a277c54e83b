#include <distrun/runner/report/json/ctrf_case.hpp>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/json/json_parts.hpp>
#include <distrun/runner/report/text/attempt_text.hpp>
#include <distrun/runner/report/text/excerpt.hpp>
#include <distrun/runner/report/text/failure_place.hpp>
#include <distrun/runner/report/text/failure_text.hpp>
#include <distrun/runner/report/text/rank_output.hpp>
#include <distrun/runner/report/text/repeat_command.hpp>
#include <distrun/runner/report/text/test_names.hpp>

namespace distrun::report {
namespace {

using runner::AttemptKind;
using runner::AttemptRecord;
using runner::TestRecord;
using runner::Verdict;

// Readers keep all of a report in memory, so everything has a bound.
struct Bounds {
  std::size_t trace;
  std::size_t output;  // of stdout, and of stderr
};
constexpr Bounds kOfTest{64U << 10U, 50U << 10U};
constexpr Bounds kOfRetry{8U << 10U, 4U << 10U};
constexpr std::size_t kMessageMax = 4000;
constexpr std::size_t kRetriesTold = 10;  // with trace and output; the others in short

std::int64_t whole_ms(base::Nanoseconds duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

// The format wants names that are not empty.
std::string named(std::string name) { return name.empty() ? "(no name)" : name; }

bool went_well(Verdict verdict) { return verdict == Verdict::Pass || verdict == Verdict::Skip; }

// The attempts that were tried again: each is followed by a retry.
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
  if (const Place place = failure_place(test, &attempt); place.line > 0) out.field("line", place.line);
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
    write_outcome_fields(out, rank);
    out.end_object();
  }
  out.end_array();
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
  if (!went_well(test.verdict)) out.field("again", repeat_command(settings, test));
  if (telling != nullptr) {
    write_attempt_extra(out, *telling);
    write_ranks(out, *telling);
  }
  out.end_object();
}

}  // namespace

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

}  // namespace distrun::report
