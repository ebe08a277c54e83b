#include <distrun/runner/report/xml/junit_case.hpp>

#include <cstdio>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/text/attempt_text.hpp>
#include <distrun/runner/report/text/failure_text.hpp>
#include <distrun/runner/report/text/rank_output.hpp>
#include <distrun/runner/report/text/repeat_command.hpp>
#include <distrun/runner/report/text/test_names.hpp>

namespace distrun::report {
namespace {

using runner::AttemptRecord;
using runner::TestRecord;
using runner::Verdict;

// Readers refuse files of tens of megabytes, so everything has a bound.
constexpr std::size_t kOutputMax = 50U << 10U;       // bytes of stdout, and of stderr, of a test
constexpr std::size_t kRerunOutputMax = 4U << 10U;   // the same of a further attempt
constexpr int kRerunsMax = 10;

// The elements for what went wrong: ours are errors, the test's are failures.
struct ElementNames {
  const char* final;    // the test's verdict
  const char* rerun;    // a further attempt that went wrong
  const char* flaky;    // an attempt that went wrong before one that passed
};

ElementNames names_for(Verdict verdict) {
  if (verdict == Verdict::InfraError) return {"error", "rerunError", "flakyError"};
  return {"failure", "rerunFailure", "flakyFailure"};
}

std::string cause_of(const TestRecord& test, const AttemptRecord* attempt) {
  return attempt == nullptr || attempt->message.empty() ? test.message : attempt->message;
}

// A case has no attributes for it that every reader takes.
std::string declaration(const TestRecord& test) {
  if (test.info.file.empty()) return "";
  return "declared at " + base::one_line(test.info.file, 400) + ":" + std::to_string(test.info.line) + "\n";
}

std::string explanation(const runner::Settings& settings, const TestRecord& test,
                        const AttemptRecord* attempt) {
  const std::string text = attempt == nullptr
                               ? test.message + "\n"
                               : message_and_text(*attempt, test.message, Paint(false));
  return text + declaration(test) + "again: " + repeat_command(settings, test) + "\n";
}

void write_output(XmlWriter& out, const char* element, const std::string& text) {
  if (text.empty()) return;
  out.open(element);
  out.text(text);
  out.close();
}

void write_outputs(XmlWriter& out, const AttemptRecord& attempt, std::size_t bytes_max) {
  write_output(out, "system-out", rank_output(attempt, &runner::RankRecord::out, bytes_max));
  write_output(out, "system-err", rank_output(attempt, &runner::RankRecord::err, bytes_max));
}

void write_failure(XmlWriter& out, const runner::Settings& settings, const TestRecord& test,
                   const AttemptRecord* attempt) {
  out.open(names_for(test.verdict).final);
  out.attribute("type", name_of(test.verdict));
  out.attribute("message", cause_of(test, attempt));
  out.text(explanation(settings, test, attempt));
  out.close();
}

// Surefire's form: the text stands in an element of its own, and the output beside it.
void write_rerun(XmlWriter& out, const char* element, const runner::Settings& settings,
                 const TestRecord& test, const AttemptRecord& attempt) {
  out.open(element);
  out.attribute("type", name_of(attempt.verdict));
  out.attribute("message", cause_of(test, &attempt));
  out.open("stackTrace");
  out.text(explanation(settings, test, &attempt));
  out.close();
  write_outputs(out, attempt, kRerunOutputMax);
  out.close();
}

void write_flaky(XmlWriter& out, const runner::Settings& settings, const TestRecord& test) {
  int count = 0;
  for (const AttemptRecord& attempt : test.attempts) {
    if (is_good(attempt.verdict) || ++count > kRerunsMax) continue;
    write_rerun(out, names_for(attempt.verdict).flaky, settings, test, attempt);
  }
}

void write_failures(XmlWriter& out, const runner::Settings& settings, const TestRecord& test) {
  const AttemptRecord* first = telling_attempt(test);
  write_failure(out, settings, test, first);
  int count = 0;
  for (const AttemptRecord& attempt : test.attempts) {
    if (&attempt == first || is_good(attempt.verdict) || ++count > kRerunsMax) continue;
    write_rerun(out, names_for(attempt.verdict).rerun, settings, test, attempt);
  }
  if (first != nullptr) write_outputs(out, *first, kOutputMax);
}

void write_skipped(XmlWriter& out, const std::string& message) {
  out.open("skipped");
  out.attribute("message", message);
  out.close();
}

}  // namespace

void write_junit_case(XmlWriter& out, const runner::Settings& settings, const TestRecord& test) {
  out.open("testcase");
  out.attribute("name", case_name(test));
  out.attribute("classname", junit_class_name(test));
  out.attribute("time", junit_seconds(test.duration));
  switch (test.verdict) {
    case Verdict::Pass: break;
    case Verdict::Skip: write_skipped(out, test.message); break;
    case Verdict::Cancelled: write_skipped(out, "cancelled"); break;
    case Verdict::Flaky: write_flaky(out, settings, test); break;
    default: write_failures(out, settings, test);
  }
  out.close();
}

void write_junit_problem(XmlWriter& out, const runner::Problem& problem) {
  out.open("testcase");
  out.attribute("name", problem.plugin.empty() ? problem.phase
                                               : problem.phase + " " + problem.plugin);
  out.attribute("classname", "distrun");
  out.attribute("time", "0.000");
  out.open("error");
  out.attribute("type", "problem");
  out.attribute("message", base::one_line(problem.text));
  out.text(problem.text);
  out.close();
  out.close();
}

std::string junit_class_name(const TestRecord& test) {
  return plugin_name(test) + "." + test.info.suite;
}

std::string junit_seconds(base::Nanoseconds duration) {
  char text[48];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(duration.count()) / 1e9);
  return text;
}

}  // namespace distrun::report
