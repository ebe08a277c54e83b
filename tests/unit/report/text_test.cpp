#include <catch2/catch.hpp>

#include <algorithm>

#include <distrun/runner/report/text/excerpt.hpp>
#include <distrun/runner/report/text/failure_text.hpp>
#include <distrun/runner/report/text/findings.hpp>
#include <distrun/runner/report/text/repeat_command.hpp>
#include <distrun/runner/report/text/stress_text.hpp>
#include <distrun/runner/report/text/test_line.hpp>
#include <distrun/runner/report/xml/junit.hpp>

#include "samples.hpp"

using namespace distrun;
using namespace distrun::report;
using namespace distrun::report::samples;

TEST_CASE("an excerpt keeps the first and the last lines", "[report]") {
  CHECK(excerpt_lines("a\nb\nc", 3) == std::vector<std::string>{"a", "b", "c"});
  CHECK(excerpt_lines("a\nb\nc\nd\ne\nf", 4) == std::vector<std::string>{"a", "b", "... 3 lines left out ...", "f"});
  CHECK(excerpt_lines("", 4).empty());
}

TEST_CASE("an excerpt cuts long lines between characters", "[report]") {
  const std::string line = std::string(kLineMax - 1, 'x') + "\xc3\xa9" + "yy";
  CHECK(excerpt_lines(line, 4).front() == std::string(kLineMax - 1, 'x') + "... (4 bytes more)");
}

TEST_CASE("an excerpt of bytes consists of complete lines", "[report]") {
  CHECK(excerpt_bytes("short\n", 100) == "short\n");
  CHECK(excerpt_bytes("aaaa\nbbbb\ncccc\ndddd\neeee\n", 12) == "aaaa\n... 15 bytes left out ...\neeee\n");
  CHECK(excerpt_bytes(std::string(100, 'x'), 10) == "xxxxx\n... 90 bytes left out ...\nxxxxx");
}

TEST_CASE("text is fitted to columns, not bytes", "[report]") {
  CHECK(fit("abcdef", 6) == "abcdef");
  CHECK(fit("abcdefg", 6) == "abc...");
  CHECK(fit("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 4) == "\xc3\xa9...");
  CHECK(fit_middle("abcdefghijkl", 9) == "ab...ijkl");
  CHECK(display_width("\xe6\x97\xa5\xe6\x9c\xac") == 4);
  CHECK(fit("abc", 2) == "ab");
}

TEST_CASE("ranks with the same outcome are one finding", "[report]") {
  const runner::TestRecord test = wide();
  const Findings findings = findings_of(test.attempts[0]);
  REQUIRE(findings.culprits.size() == 1);
  CHECK(findings.culprits[0].ranks == std::vector<int>{17});
  CHECK(findings.culprits[0].story == "exited with code 0 without a result in the test body");
  REQUIRE(findings.others.size() == 2);
  CHECK(findings.others[0].ranks.size() == 227);
  CHECK(findings.others[1].story == "ended by distrun after rank 17 left, waiting in barrier \"start\"");
}

TEST_CASE("a culprit without a record is not a finding", "[report]") {
  runner::TestRecord test = failing();
  test.attempts[0].culprits = {9, 2, 2, -1};
  const Findings findings = findings_of(test.attempts[0]);
  REQUIRE(findings.culprits.size() == 1);
  CHECK(findings.culprits[0].ranks == std::vector<int>{2});
}

TEST_CASE("the host of a suite is named as such", "[report]") {
  const runner::RunRecord run = run_with_hosts();
  const std::string text = failure_text(run.settings, run.tests[0], Paint(false));
  CHECK_THAT(text, Catch::Contains("the suite's set-up failed: no water (fleet.cpp:7)"));
  CHECK_THAT(text, Catch::Contains("the host: RuntimeError: no water"));
  CHECK_THAT(text, Catch::Contains("stdout of the host:\n  host| filling the dock"));
  CHECK_THAT(junit_xml(run), Catch::Contains("[host] filling the dock"));
}

TEST_CASE("the command that repeats a test has the settings that differ from the defaults", "[report]") {
  runner::Settings settings = empty_run().settings;
  CHECK(repeat_command(settings, failing()) ==
        "distrun --world-size 4 --filter Ring.gather --seed 17 build/plugins/ring.so");
  settings.world_size = 8;
  settings.backend = "gloo";
  settings.agent = "faulty";
  settings.faults = "7:drop:retriable:0.1";
  settings.rpc_transport = "uds";
  settings.gpu_driver = "virtual";
  settings.gpus = 2;
  settings.timeout = std::chrono::milliseconds(1500);
  settings.timeout_scale = 3;
  settings.leaks_strict = true;
  settings.quick_exit = true;
  settings.env = {{"NAME", "two words"}};
  CHECK(repeat_command(settings, failing()) ==
        "distrun --world-size 8 --backend gloo --agent faulty --faults 7:drop:retriable:0.1 --rpc-transport uds "
        "--gpu-driver virtual --gpus 2 --timeout 1.5 --timeout-scale 3 --leaks strict --exit quick --env 'NAME=two "
        "words' --filter Ring.gather --seed 17 "
        "build/plugins/ring.so");
}

TEST_CASE("the command that repeats a test has no values of variables that a report omits", "[report]") {
  runner::Settings settings = empty_run().settings;
  settings.env = {{"TOKEN", ""}};
  settings.env_hidden = true;
  CHECK(repeat_command(settings, failing()) ==
        "distrun --world-size 4 --env TOKEN --filter Ring.gather --seed 17 build/plugins/ring.so");
}

TEST_CASE("the command that repeats a test has the same --repeat, and reads no settings file", "[report]") {
  runner::Settings settings = empty_run().settings;
  settings.until_fail = 20;
  settings.shard = {2, 3};
  settings.shuffle = true;
  settings.config = "../.distrun.toml";
  CHECK(repeat_command(settings, failing()) ==
        "distrun --config=none --world-size 4 --until-fail=20 --filter Ring.gather --seed 17 build/plugins/ring.so");
}

TEST_CASE("the command that repeats a test is safe to print and to paste", "[report]") {
  runner::TestRecord test = failing();
  test.info.name = "a*b\x1b[31m 'q' \xff";
  CHECK(repeat_command(empty_run().settings, test) ==
        "distrun --world-size 4 --filter 'Ring.a\\*b?[31m?'\\''q'\\''?"
        "?' --seed 17 "
        "build/plugins/ring.so");
}

TEST_CASE("the line of a test fits its terminal", "[report]") {
  const Paint plain(false);
  for (const int width : {40, 60, 80, 100, 200}) {
    for (auto make : {passing, failing, hostile, broken_machine}) {
      CHECK(display_width(test_line(make(), plain, width)) <= static_cast<std::size_t>(std::max(width, 47)));
    }
  }
}

TEST_CASE("a problem with empty fields is still a line", "[report]") {
  CHECK(problem_lines({}, Paint(false)) == "problem:\n");
}

TEST_CASE("a declared death is reported as such", "[report]") {
  runner::TestRecord test = crashing();
  test.attempts[0].ranks[1].declared_death = true;
  CHECK(story_of(test.attempts[0], test.attempts[0].ranks[1]) ==
        "killed by signal 11 (SIGSEGV) in the test body, as declared");
}

TEST_CASE("the state of a stress run is one line") {
  runner::StressStatus status;
  CHECK_THAT(report::stress_line(status, std::chrono::minutes(1)), Catch::Contains(": 0 runs, 0 failed (0 %)"));
  status.elapsed = std::chrono::seconds(12);
  status.all = {1'200, 3, std::chrono::seconds(12), std::chrono::milliseconds(84), {}};
  CHECK(report::stress_line(status, std::chrono::minutes(10)) ==
        "stress 12 s of 10 min 00 s: 1200 runs, 3 failed (0.25 %), 100.0/s, mean 10.0 ms, longest 84.0 ms");
  status.elapsed = std::chrono::minutes(11);
  status.running = 2;
  CHECK_THAT(report::stress_line(status, std::chrono::minutes(10)),
             Catch::StartsWith("stress 10 min 00 s are over, 2 attempts still run: 1200 runs"));
}
