#include <distrun/runner/report/xml/junit.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/text/attempt_text.hpp>
#include <distrun/runner/report/text/case_parts.hpp>
#include <distrun/runner/report/text/excerpt.hpp>
#include <distrun/runner/report/text/failure_text.hpp>
#include <distrun/runner/report/text/measured.hpp>
#include <distrun/runner/report/text/repeat_command.hpp>
#include <distrun/runner/report/text/reported_settings.hpp>
#include <distrun/runner/report/xml/xml_writer.hpp>

namespace distrun::report {
namespace {

using runner::AttemptRecord;
using runner::TestRecord;
using runner::Verdict;

// Readers refuse files of tens of megabytes, so every part is bounded.
constexpr std::size_t kOutputMax = 50U << 10U;      // bytes of a test's stdout and of its stderr each
constexpr std::size_t kRerunOutputMax = 4U << 10U;  // the same for a further attempt
constexpr int kRerunsMax = 10;

// The element names for a bad verdict: distrun's errors are errors, the test's are failures.
struct ElementNames {
  const char* final;  // the test's verdict
  const char* rerun;  // a further attempt that did not succeed
  const char* flaky;  // an unsuccessful attempt before one that passed
};

ElementNames names_for(Verdict verdict) {
  if (verdict == Verdict::InfraError) return {"error", "rerunError", "flakyError"};
  return {"failure", "rerunFailure", "flakyFailure"};
}

std::string cause_of(const TestRecord& test, const AttemptRecord* attempt) {
  return attempt == nullptr || attempt->message.empty() ? test.message : attempt->message;
}

// A case has no attributes for the location that every reader accepts.
std::string declaration(const TestRecord& test) {
  if (test.info.file.empty()) return "";
  return "declared at " + base::one_line(test.info.file, 400) + ":" + std::to_string(test.info.line) + "\n";
}

std::string explanation(const runner::Settings& settings, const TestRecord& test, const AttemptRecord* attempt) {
  const std::string text =
      attempt == nullptr ? test.message + "\n" : message_and_text(*attempt, test.message, Paint(false));
  return text + declaration(test) + "again: " + repeat_command(reported(settings), test) + "\n";
}

void write_output(XmlWriter& out, const char* element, const std::string& text) {
  if (text.empty()) return;
  out.open(element);
  out.text(text);
  out.close();
}

// A case has no properties that every reader accepts.
void write_measured(XmlWriter& out, const TestRecord& test) {
  std::string text;
  for (const Measured& each : measured(test)) text += base::one_line(each.name) + ": " + measured_text(each) + "\n";
  write_output(out, "system-out", excerpt_bytes(text, kOutputMax));
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

// Surefire's format: the text has a separate element, followed by the output.
void write_rerun(XmlWriter& out, const char* element, const runner::Settings& settings, const TestRecord& test,
                 const AttemptRecord& attempt) {
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

// Returns "ring.Collectives": the plugin's file name without its extension, and the suite.
std::string junit_class_name(const TestRecord& test) { return plugin_name(test) + "." + test.info.suite; }

// Returns "0.012".
std::string junit_seconds(base::Nanoseconds duration) {
  char text[48];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(duration.count()) / 1e9);
  return text;
}

void write_junit_case(XmlWriter& out, const runner::Settings& settings, const TestRecord& test) {
  out.open("testcase");
  out.attribute("name", case_name(test));
  out.attribute("classname", junit_class_name(test));
  out.attribute("time", junit_seconds(test.duration));
  switch (test.verdict) {
    case Verdict::Pass: write_measured(out, test); break;
    case Verdict::Skip: write_skipped(out, test.message); break;
    case Verdict::Cancelled: write_skipped(out, "cancelled"); break;
    case Verdict::Flaky:
      write_flaky(out, settings, test);
      write_measured(out, test);
      break;
    default: write_failures(out, settings, test);
  }
  out.close();
}

void write_junit_problem(XmlWriter& out, const runner::Problem& problem) {
  out.open("testcase");
  out.attribute("name", problem.plugin.empty() ? problem.phase : problem.phase + " " + problem.plugin);
  out.attribute("classname", "distrun");
  out.attribute("time", "0.000");
  out.open("error");
  out.attribute("type", "problem");
  out.attribute("message", base::one_line(problem.text));
  out.text(problem.text);
  out.close();
  out.close();
}

using runner::Verdict;

// The tests of one suite of one plugin.
struct Suite {
  std::string name;
  std::vector<const runner::TestRecord*> tests;
};

struct Counts {
  int tests = 0;
  int failures = 0;
  int errors = 0;
  int skipped = 0;
  base::Nanoseconds time{};

  void add(const runner::TestRecord& test) {
    ++tests;
    time += test.duration;
    if (test.verdict == Verdict::InfraError) {
      ++errors;
    } else if (test.verdict == Verdict::Skip || test.verdict == Verdict::Cancelled) {
      ++skipped;
    } else if (!is_good(test.verdict)) {
      ++failures;
    }
  }
};

// Returns the suites in order of appearance.
std::vector<Suite> suites_of(const runner::RunRecord& run) {
  std::vector<Suite> suites;
  std::map<std::pair<std::string, std::string>, std::size_t> index;
  for (const runner::TestRecord& test : run.tests) {
    const auto [at, is_new] = index.try_emplace({test.plugin, test.info.suite}, suites.size());
    if (is_new) suites.push_back({junit_class_name(test), {}});
    suites[at->second].tests.push_back(&test);
  }
  return suites;
}

void write_counts(XmlWriter& out, const Counts& counts) {
  out.attribute("tests", std::to_string(counts.tests));
  out.attribute("failures", std::to_string(counts.failures));
  out.attribute("errors", std::to_string(counts.errors));
  out.attribute("time", junit_seconds(counts.time));
}

// Jenkins' xUnit plugin refuses a total of skips at the top level, and the file and line of a test.
void write_suite_head(XmlWriter& out, const Suite& suite, const Counts& counts) {
  out.attribute("name", suite.name);
  write_counts(out, counts);
  out.attribute("skipped", std::to_string(counts.skipped));
  const std::string file = suite.tests.empty() ? "" : suite.tests.front()->info.file;
  const bool is_of_all = std::all_of(suite.tests.begin(), suite.tests.end(),
                                     [&](const runner::TestRecord* test) { return test->info.file == file; });
  if (is_of_all && !file.empty()) out.attribute("file", file);
}

void write_property(XmlWriter& out, const char* name, const std::string& value) {
  out.open("property");
  out.attribute("name", name);
  out.attribute("value", value);
  out.close();
}

void write_properties(XmlWriter& out, const runner::RunRecord& run) {
  const runner::Settings& settings = run.settings;
  out.open("properties");
  write_property(out, "distrun.run_id", run.run_id);
  write_property(out, "distrun.world_size", world_sizes_text(settings));
  write_property(out, "distrun.backend", settings.backend);
  write_property(out, "distrun.agent", settings.agent);
  write_property(out, "distrun.gpu_driver", settings.gpu_driver);
  write_property(out, "distrun.isolation", name_of(settings.isolation));
  write_property(out, "distrun.seed", std::to_string(settings.seed));
  out.close();
}

void write_suite(XmlWriter& out, const runner::RunRecord& run, const Suite& suite) {
  Counts counts;
  for (const runner::TestRecord* test : suite.tests) counts.add(*test);
  out.open("testsuite");
  write_suite_head(out, suite, counts);
  out.attribute("timestamp", base::iso8601(run.started_wall_ns));
  out.attribute("hostname", run.machine.hostname);
  write_properties(out, run);
  for (const runner::TestRecord* test : suite.tests) write_junit_case(out, run.settings, *test);
  out.close();
}

// Problems would be overlooked if they were not cases as well.
void write_problems(XmlWriter& out, const std::vector<runner::Problem>& problems) {
  Counts counts;
  counts.tests = counts.errors = static_cast<int>(problems.size());
  out.open("testsuite");
  write_suite_head(out, {"distrun", {}}, counts);
  for (const runner::Problem& problem : problems) write_junit_problem(out, problem);
  out.close();
}

}  // namespace

std::string junit_xml(const runner::RunRecord& run) {
  Counts counts;
  for (const runner::TestRecord& test : run.tests) counts.add(test);
  counts.tests += static_cast<int>(run.problems.size());
  counts.errors += static_cast<int>(run.problems.size());
  counts.time = run.duration;
  XmlWriter out;
  out.open("testsuites");
  out.attribute("name", "distrun");
  write_counts(out, counts);
  for (const Suite& suite : suites_of(run)) write_suite(out, run, suite);
  if (!run.problems.empty()) write_problems(out, run.problems);
  out.close();
  return out.take();
}

}  // namespace distrun::report
