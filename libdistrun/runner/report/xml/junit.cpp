#include <distrun/runner/report/xml/junit.hpp>

#include <algorithm>
#include <map>

#include <distrun/runner/report/xml/junit_case.hpp>

namespace distrun::report {
namespace {

using runner::Verdict;

// The tests of one suite of one plugin, and what a reader counts of them.
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

// In order of appearance.
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

// Jenkins' xUnit plugin refuses a count of skips on the whole, and a file and line of a test.
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
  write_property(out, "distrun.world_size", std::to_string(settings.world_size));
  write_property(out, "distrun.backend", settings.backend);
  write_property(out, "distrun.agent", settings.agent);
  write_property(out, "distrun.gpu_driver", settings.gpu_driver);
  write_property(out, "distrun.isolation", settings.isolation);
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

// Problems would be overlooked if they were not cases too.
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
