#include <distrun/runner/report/text/measured.hpp>

#include <catch2/catch.hpp>

#include <distrun/runner/report/github/github_summary.hpp>
#include <distrun/runner/report/json/read_summary.hpp>
#include <distrun/runner/report/json/summary.hpp>
#include <distrun/runner/report/xml/junit.hpp>

#include "samples.hpp"

using namespace distrun;
using namespace distrun::report;
using namespace distrun::report::samples;
using Catch::Contains;

namespace {

std::string lines_of(const runner::TestRecord& test, int width = 0) {
  return measured_lines(test, Paint(false), width);
}

std::string texts_of(const std::vector<wire::Measure>& measures) {
  runner::TestRecord test = passing();
  test.attempts[0].ranks[0].measures = measures;
  std::string texts;
  for (const Measured& each : measured(test)) texts += measured_text(each) + "\n";
  return texts;
}

}  // namespace

TEST_CASE("values of one name and unit are told together, with their median, range and ranks", "[report]") {
  const std::string indent(26, ' ');
  CHECK(lines_of(measuring()) == indent +
                                     "bandwidth: median 12.25 GB/s, 11.25 to 13.12 GB/s (4 values of ranks 0-1, 3)\n" +
                                     indent + "steps: 3\n" + indent + "bandwidth: 9 MB/s\n");
  CHECK(lines_of(passing()).empty());
  CHECK(lines_of(skipped()).empty());
}

TEST_CASE("a measured value has four digits, and any size", "[report]") {
  CHECK(texts_of({{"a", 0.000123456, "s"}}) == "0.0001235 s\n");
  CHECK(texts_of({{"a", 1e300, ""}, {"a", -1e300, ""}}) == "median 0, -1e+300 to 1e+300 (2 values of rank 0)\n");
  CHECK(texts_of({{"a", 1.7e308, ""}, {"a", 1.7e308, ""}}) ==
        "median 1.7e+308, 1.7e+308 to 1.7e+308 (2 values of rank 0)\n");
  CHECK(texts_of({{"a", 3, ""}, {"a", 1, ""}, {"a", 2, ""}}) == "median 2, 1 to 3 (3 values of rank 0)\n");
}

TEST_CASE("lines of measured values fit a terminal, and of very many the first are shown", "[report]") {
  runner::TestRecord test = passing();
  for (int i = 0; i < 100; ++i) {
    test.attempts[0].ranks[0].measures.push_back({std::string(100, 'n') + std::to_string(i), 1, "\x1b[31m\n"});
  }
  const std::string text = lines_of(test, 80);
  CHECK(std::count(text.begin(), text.end(), '\n') == 41);
  CHECK_THAT(text, Contains("... and 60 more, see --json\n") && !Contains("\x1b"));
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    CHECK(end - begin <= 80);
    begin = end + 1;
  }
}

TEST_CASE("measured values are read back from a summary as they were written", "[report]") {
  const runner::RunRecord run = run_of(measuring());
  const runner::RunRecord again = read_summary(summary_json(run));
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(again.tests[0].attempts[0].ranks[i].measures == run.tests[0].attempts[0].ranks[i].measures);
  }
  CHECK(summary_json(again) == summary_json(run));
}

TEST_CASE("measured values are in the output of their JUnit case, and in GitHub's step summary", "[report]") {
  const std::string text = "bandwidth: median 12.25 GB/s, 11.25 to 13.12 GB/s (4 values of ranks 0-1, 3)";
  CHECK_THAT(junit_xml(run_of(measuring())), Contains("<system-out>" + text + "\n"));
  const std::string page = github_summary(run_of(measuring()), 1 << 20);
  CHECK_THAT(page, Contains("</code> " + text + "</p>\n\n"));
  CHECK_THAT(github_summary(run_of(passing()), 1 << 20), !Contains("bandwidth"));
}
