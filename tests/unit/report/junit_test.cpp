#include <catch2/catch.hpp>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/xml/junit.hpp>

#include "samples.hpp"

using namespace distrun;
using namespace distrun::report;
using namespace distrun::report::samples;
using Catch::Contains;

namespace {

std::string junit_of(runner::TestRecord test) { return junit_xml(run_of(std::move(test))); }

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("JUnit has one case per test, by plugin and suite", "[report]") {
  const std::string xml = junit_of(passing());
  CHECK(count_of(xml, "<testcase ") == 1);
  CHECK_THAT(xml, Contains("<testsuite name=\"ring.Ring\" tests=\"1\" failures=\"0\" errors=\"0\" "
                           "time=\"0.012\" skipped=\"0\" file=\"plugins/ring/ring.cpp\" "
                           "timestamp=\"2027-01-15T08:00:00.123Z\" hostname=\"node1\">"));
  CHECK_THAT(xml, Contains("<testcase name=\"broadcast/root=3,dtype=f32\" classname=\"ring.Ring\" "
                           "time=\"0.012\"/>"));
}

TEST_CASE("JUnit names a suite's file only if all of its tests are there", "[report]") {
  runner::RunRecord run = run_of(passing());
  run.tests.push_back(failing());
  run.tests.back().info.file = "plugins/ring/other.cpp";
  const std::string xml = junit_xml(run);
  CHECK(count_of(xml, "<testsuite ") == 1);
  CHECK_THAT(xml, !Contains(" file="));
  CHECK_THAT(xml, Contains("declared at plugins/ring/other.cpp:"));
}

TEST_CASE("JUnit describes a failure with its verdict, its cause and all ranks", "[report]") {
  const std::string xml = junit_of(failing());
  CHECK_THAT(xml, Contains("<failure type=\"fail\" message=\"rank 2 failed: sum == 6 left: 5, "
                           "right: 6 (plugins/ring/ring.cpp:41)\">rank 2: CheckFailed: sum == 6\n"
                           "    left: 5, right: 6\n"
                           "    at plugins/ring/ring.cpp:41\n"
                           "ranks 0, 3: ended by distrun after rank 2 failed\n"));
  CHECK_THAT(xml, Contains("declared at plugins/ring/ring.cpp:40\nagain: distrun --world-size 4 "
                           "--filter Ring.gather --seed 17 "
                           "build/plugins/ring.so\n</failure>"));
  CHECK_THAT(xml, Contains("<system-out>[rank 2] step 1\n[rank 2] step 2\n[rank 2] \n"
                           "[rank 2] step 3\n[rank 0] nobody needs this\n</system-out>"));
  CHECK_THAT(xml, Contains("<system-err>[rank 2] warning: slow\n</system-err>"));
}

TEST_CASE("JUnit counts each verdict where its readers expect it", "[report]") {
  for (auto make : {failing, crashing, timing_out, deadlocked, leaking}) {
    const runner::TestRecord test = make();
    const std::string xml = junit_of(test);
    CHECK_THAT(xml, Contains(std::string("<failure type=\"") + name_of(test.verdict) + "\""));
    CHECK_THAT(xml, Contains("failures=\"1\" errors=\"0\" time="));
  }
  const std::string broken = junit_of(broken_machine());
  CHECK_THAT(broken, Contains("<error type=\"infra-error\" message=\"cannot start rank 3"));
  CHECK_THAT(broken, Contains("failures=\"0\" errors=\"1\" time="));
  CHECK_THAT(junit_of(skipped()), Contains("<skipped message=\"needs 2 GPUs, 0 are there\"/>"));
  CHECK_THAT(junit_of(cancelled()), Contains("<skipped message=\"cancelled\"/>"));
}

TEST_CASE("JUnit has a flaky test's failed attempts and no failure", "[report]") {
  const std::string xml = junit_of(flaky());
  CHECK_THAT(xml, Contains("failures=\"0\" errors=\"0\""));
  CHECK_THAT(xml, Contains("<flakyFailure type=\"fail\" message=\"rank 2 failed: sum == 6 left: 5, "
                           "right: 6 (plugins/ring/ring.cpp:41)\">\n"
                           "        <stackTrace>rank 2: CheckFailed: sum == 6\n"));
  CHECK(count_of(xml, "<flakyFailure") == 1);
  CHECK(count_of(xml, "<failure") == 0);
}

TEST_CASE("JUnit has the first attempt as the failure and retries as reruns", "[report]") {
  const std::string xml = junit_of(failing_every_retry());
  CHECK(count_of(xml, "<failure type=\"fail\"") == 1);
  CHECK(count_of(
            xml,
            "<rerunFailure type=\"crash\" message=\"rank 0 exited with code 0 without a result in the test body\">") ==
        1);
}

TEST_CASE("JUnit has problems as separate cases", "[report]") {
  const std::string xml = junit_xml(full_run());
  CHECK_THAT(xml, Contains("<testcase name=\"list build/plugins/torn.so\" classname=\"distrun\""));
  CHECK_THAT(xml, Contains("<error type=\"problem\" message=\"cannot load it: undefined symbol: "
                           "f\">cannot load it:\nundefined symbol: f</error>"));
}

TEST_CASE("JUnit contains no character that XML cannot represent", "[report]") {
  const std::string xml = junit_of(hostile());
  CHECK(xml == base::valid_utf8(xml));
  for (const char c : xml) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') FAIL("a control character");
  }
  CHECK(xml.find("\xef\xbf\xbf") == std::string::npos);
  CHECK(xml.find("<b>") == std::string::npos);
  CHECK(xml.find("]]>") == std::string::npos);
  CHECK_THAT(xml, Contains("\\x1b[31mred"));
}

TEST_CASE("JUnit keeps the beginning and the end of a flood", "[report]") {
  runner::TestRecord test = failing();
  std::string flood;
  for (int i = 0; i < 100'000; ++i) flood += "line " + std::to_string(i) + "\n";
  for (runner::RankRecord& rank : test.attempts[0].ranks) rank.out.text = rank.err.text = flood;
  const std::string xml = junit_of(test);
  CHECK(xml.size() < 110U * 1024U);
  CHECK_THAT(xml, Contains("[rank 2] line 0\n"));
  CHECK_THAT(xml, Contains("[rank 2] line 99999\n"));
  CHECK_THAT(xml, Contains(" bytes left out ..."));
}
