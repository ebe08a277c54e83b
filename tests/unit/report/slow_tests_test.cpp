#include <catch2/catch.hpp>

#include <distrun/runner/report/text/slow_tests.hpp>

#include "samples.hpp"

using namespace distrun;
using namespace distrun::report;
using namespace distrun::report::samples;
using namespace std::chrono_literals;

namespace {

runner::TestRecord test_of(const std::string& name, base::Nanoseconds duration) {
  runner::TestRecord test;
  test.info.suite = "Ring";
  test.info.name = name;
  test.duration = duration;
  test.attempts.emplace_back().duration = duration;
  return test;
}

void add_rank(runner::AttemptRecord& attempt, base::Nanoseconds began, base::Nanoseconds ended) {
  runner::RankRecord& rank = attempt.ranks.emplace_back();
  rank.body_began = began;
  rank.body_ended = ended;
  rank.ended = attempt.duration;
}

std::string text_of(const runner::RunRecord& run, std::size_t count) {
  return slow_tests_text(run, count, Paint(false));
}

}  // namespace

TEST_CASE("the slowest tests come first, and no more than were asked for", "[report]") {
  runner::RunRecord run = empty_run();
  add(run, test_of("quick", 10ms));
  add(run, test_of("slow", 2s));
  add(run, test_of("middle", 300ms));
  CHECK(text_of(run, 2) ==
        "slowest            2.0 s  Ring.slow\n"
        "                300.0 ms  Ring.middle\n");
  CHECK(text_of(run, 0).empty());
}

TEST_CASE("a test without a started body is not slow", "[report]") {
  runner::RunRecord run = empty_run();
  add(run, skipped());
  CHECK(text_of(run, 5).empty());
}

TEST_CASE("time is divided at the start of the last body and the end of the last one", "[report]") {
  runner::RunRecord run = empty_run();
  runner::TestRecord test = test_of("slow", 100ms);
  test.duration = 110ms;  // includes loading the plugin
  add_rank(test.attempts[0], 5ms, 60ms);
  add_rank(test.attempts[0], 20ms, 70ms);
  add(run, test);
  CHECK(text_of(run, 1) ==
        "slowest         110.0 ms  Ring.slow"
        "  (30.0 ms before the bodies, 50.0 ms in the bodies, 30.0 ms after)\n");
}

TEST_CASE("an unfinished body lasts as long as its rank", "[report]") {
  runner::RunRecord run = empty_run();
  runner::TestRecord test = test_of("hangs", 100ms);
  add_rank(test.attempts[0], 10ms, 0ms);
  add_rank(test.attempts[0], 0ms, 0ms);  // never began
  add(run, test);
  CHECK(text_of(run, 1) ==
        "slowest         100.0 ms  Ring.hangs"
        "  (10.0 ms before the bodies, 90.0 ms in the bodies, 0 us after)\n");
}

TEST_CASE("the attempts of a test are added up", "[report]") {
  runner::RunRecord run = empty_run();
  runner::TestRecord test = test_of("again", 10ms);
  add_rank(test.attempts[0], 2ms, 8ms);
  test.attempts.push_back(test.attempts[0]);
  test.duration = 20ms;
  add(run, test);
  CHECK(text_of(run, 1) ==
        "slowest          20.0 ms  Ring.again"
        "  (2 attempts: 4.0 ms before the bodies, 12.0 ms in the bodies, 4.0 ms after)\n");
}
