#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/history/history.hpp>

#include "samples.hpp"

using namespace distrun;
using namespace distrun::history;
using namespace distrun::history::samples;

namespace {

Selection of(const std::string& pattern) {
  Selection selection;
  selection.filter = runner::Filter({pattern});
  return selection;
}

std::vector<std::string> ids_of(const std::vector<TestLine>& lines) {
  std::vector<std::string> ids;
  for (const TestLine& line : lines) ids.push_back(line.id);
  return ids;
}

std::vector<std::string> runs_of(const std::vector<Result>& results) {
  std::vector<std::string> ids;
  for (const Result& result : results) ids.push_back(result.run_id);
  return ids;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a recorded result is read back") {
  History history = History::in_memory();
  runner::TestRecord test = test_of("Ring.pass", Verdict::Fail, 12345us, "rank 2 failed");
  test.info.parameters = {{"bytes", "1024"}};
  REQUIRE(history.record(run_of("run0", 3, {test})));
  const std::vector<Result> results = history.results({}, 0);
  REQUIRE(results.size() == 1);
  const Result& result = results.front();
  CHECK(result.at_ms == 3 * kDayMs);
  CHECK(result.run_id == "run0");
  CHECK(result.plugin == "ring.so");
  CHECK(result.test == "Ring.pass/bytes=1024");
  CHECK(result.variant.world_size == 4);
  CHECK(result.variant.backend == "shm");
  CHECK(result.variant.agent == "pipe");
  CHECK(result.variant.isolation == Isolation::Process);
  CHECK(result.verdict == Verdict::Fail);
  CHECK(result.duration == 12345us);
  CHECK(result.attempts == 1);
  CHECK(result.message == "rank 2 failed");
}

TEST_CASE("every verdict is read back unchanged") {
  History history = History::in_memory();
  std::vector<runner::TestRecord> tests;
  for (int i = 0; i < runner::kVerdictCount; ++i) {
    tests.push_back(test_of("All.verdict" + std::to_string(i), static_cast<Verdict>(i)));
  }
  history.record(run_of("run0", 1, tests));
  for (int i = 0; i < runner::kVerdictCount; ++i) {
    const auto results = history.results(of("All.verdict" + std::to_string(i)), 0);
    REQUIRE(results.size() == 1);
    CHECK(results.front().verdict == static_cast<Verdict>(i));
  }
}

TEST_CASE("a run is recorded once") {
  History history = History::in_memory();
  CHECK(history.record(run_of("run0", 1, {test_of("Ring.pass")})));
  CHECK_FALSE(history.record(run_of("run0", 2, {test_of("Ring.pass", Verdict::Fail), test_of("Ring.more")})));
  CHECK(history.runs() == 1);
  CHECK(history.results({}, 0).size() == 1);
  CHECK(history.record(run_of("run1", 1, {test_of("Ring.pass")})));
}

TEST_CASE("results are sorted newest first, in any order of recording, and limited in number") {
  History history = History::in_memory();
  for (const int day : {3, 1, 4, 2}) history.record(run_of("day" + std::to_string(day), day, {test_of("Ring.pass")}));
  CHECK(runs_of(history.results(of("Ring.pass"), 0)) == Texts{"day4", "day3", "day2", "day1"});
  CHECK(runs_of(history.results(of("Ring.pass"), 2)) == Texts{"day4", "day3"});
  Selection late = of("Ring");
  late.since_ms = 3 * kDayMs;
  CHECK(runs_of(history.results(late, 0)) == Texts{"day4", "day3"});
  CHECK(history.results(of("Rin.*"), 0).empty());
}

TEST_CASE("for many tests the newest results are taken over all of them") {
  History history = History::in_memory();
  for (int day = 1; day <= 5; ++day) {
    std::vector<runner::TestRecord> tests;
    for (int i = 0; i < 20; ++i) tests.push_back(test_of("Ring.t" + std::to_string(i)));
    history.record(run_of("day" + std::to_string(day), day, tests));
  }
  const std::vector<Result> results = history.results({}, 25);
  REQUIRE(results.size() == 25);
  CHECK(results[0].test == "Ring.t19");
  CHECK(results[19].run_id == "day5");
  CHECK(results[20].run_id == "day4");
}

TEST_CASE("the duration of a repeated test is that of one attempt, a passed one if there is one") {
  History history = History::in_memory();
  runner::TestRecord test = test_of("Ring.pass", Verdict::Flaky, 300s);
  test.attempts.front().verdict = Verdict::Timeout;
  for (const auto duration : {7ms, 9ms}) {
    test.attempts.push_back(test.attempts.front());
    test.attempts.back().verdict = Verdict::Pass;
    test.attempts.back().duration = duration;
  }
  runner::TestRecord skipped = test_of("Ring.skipped", Verdict::Skip);
  skipped.attempts.clear();
  history.record(run_of("run0", 1, {test, skipped}));
  const Result result = history.results(of("Ring.pass"), 0).at(0);
  CHECK(result.duration == 9ms);
  CHECK(result.attempts == 3);
  CHECK(history.results(of("Ring.skipped"), 0).at(0).attempts == 0);
}

TEST_CASE("the same test twice in a run is two results, and in another plugin it is another test") {
  History history = History::in_memory();
  runner::TestRecord other = test_of("Ring.pass");
  other.plugin = "/elsewhere/other.so";
  history.record(run_of("run0", 1, {test_of("Ring.pass"), test_of("Ring.pass"), other}));
  CHECK(history.results({}, 0).size() == 3);
  const std::vector<TestLine> lines = history.tests({});
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].plugin == "other.so");
  CHECK(lines[1].plugin == "ring.so");
  CHECK(lines[1].statistics.results == 2);
}

TEST_CASE("a plugin is the same one wherever its file is") {
  History history = History::in_memory();
  for (const char* path : {"ring.so", "./ring.so", "/opt/ci/build/ring.so"}) {
    runner::TestRecord test = test_of("Ring.pass");
    test.plugin = path;
    history.record(run_of(path, 1, {test}));
  }
  CHECK(history.tests({}).size() == 1);
}

TEST_CASE("output of a test can do no harm") {
  History history = History::in_memory();
  const std::string message = "\x1b[2J'; DROP TABLE run; --" + std::string(9999, 'x');
  runner::TestRecord test = test_of("Ring.\xff", Verdict::Fail, 1ms, message);
  test.variant.backend = std::string("a\0b", 3);
  history.record(run_of("run0", 1, {test}));
  const Result result = history.results({}, 0).at(0);
  CHECK(result.test == "Ring.\xef\xbf\xbd");
  CHECK(result.message.size() <= kMessageMax + 3);
  CHECK(result.message.find('\x1b') == std::string::npos);
  CHECK(history.runs() == 1);
}

TEST_CASE("the table begins with failing tests, then flaky ones, the worst first, then the rest by name") {
  History history = History::in_memory();
  const Verdict p = Verdict::Pass;
  const Verdict f = Verdict::Fail;
  const std::vector<std::pair<std::string, std::vector<Verdict>>> rows = {
      {"A.good", {p, p, p, p}},
      {"A.once_bad", {p, f, p, p}},
      {"Z.fails", {p, p, p, f}},
      {"A.flips", {f, p, f, p}},
      {"B.fails", {f, f, f, f}},
      {"C.skipped", {f, p, p, Verdict::Skip}},
      {"D.cancelled_after_failing", {p, p, f, Verdict::Cancelled}}};
  for (int day = 0; day < 4; ++day) {
    std::vector<runner::TestRecord> tests;
    for (const auto& [id, verdicts] : rows) tests.push_back(test_of(id, verdicts[static_cast<std::size_t>(day)]));
    history.record(run_of("day" + std::to_string(day), day + 1, tests));
  }
  const std::vector<TestLine> lines = history.tests({});
  CHECK(ids_of(lines) ==
        Texts{"B.fails", "D.cancelled_after_failing", "Z.fails", "A.flips", "A.once_bad", "C.skipped", "A.good"});
  CHECK(lines[1].verdict == Verdict::Cancelled);
  CHECK(lines[1].statistics.last == f);
  CHECK(lines[0].at_ms == 4 * kDayMs);
}

TEST_CASE("the table can be limited to some tests, and to recent ones") {
  History history = History::in_memory();
  history.record(run_of("old", 1, {test_of("Ring.a", Verdict::Fail), test_of("Other.b")}));
  history.record(run_of("new", 9, {test_of("Ring.a")}));
  CHECK(ids_of(history.tests(of("Ring"))) == Texts{"Ring.a"});
  Selection late;
  late.since_ms = 5 * kDayMs;
  const std::vector<TestLine> lines = history.tests(late);
  REQUIRE(ids_of(lines) == Texts{"Ring.a"});
  CHECK(lines[0].statistics.results == 1);
  CHECK(lines[0].statistics.passed == 1);
}

TEST_CASE("hints are the last verdict that counts and the median of the last twenty passed results") {
  History history = History::in_memory();
  history.record(run_of("day1", 1, {test_of("Ring.a", Verdict::Pass, 5ms), test_of("Ring.s", Verdict::Skip)}));
  history.record(run_of("day2", 2, {test_of("Ring.a", Verdict::Pass, 7ms)}));
  history.record(run_of("day3", 3, {test_of("Ring.a", Verdict::Pass, 900ms)}));
  history.record(run_of("day4", 4, {test_of("Ring.a", Verdict::Crash, 1ms)}));
  history.record(run_of("day5", 5, {test_of("Ring.a", Verdict::Cancelled, 1ms)}));
  const runner::Hints hints = history.hints();
  CHECK(hints.size() == 1);
  const runner::Hint hint = hints.of("build/ring.so", "Ring.a");
  CHECK(hint.last == Verdict::Crash);
  CHECK(hint.median == 7ms);
  CHECK_FALSE(hints.of("build/ring.so", "Ring.s").last);
  CHECK_FALSE(hints.of("build/other.so", "Ring.a").median);
}

TEST_CASE("an old run that is recorded late changes no hint of newer runs") {
  History history = History::in_memory();
  history.record(run_of("new", 9, {test_of("Ring.a", Verdict::Fail)}));
  history.record(run_of("old", 1, {test_of("Ring.a", Verdict::Pass)}));
  CHECK(history.hints().of("ring.so", "Ring.a").last == Verdict::Fail);
}

TEST_CASE("in a run with plugins of two projects each test belongs to its plugin's project") {
  History history = History::in_memory();
  runner::RunRecord run = run_of("a", 1, {test_of("Ring.a", Verdict::Fail), test_of("Ring.a", Verdict::Pass)});
  run.tests[0].plugin = "/src/one/ring.so";
  run.tests[1].plugin = "/src/two/ring.so";
  history.record(run, [](const std::string& plugin) { return plugin.substr(0, plugin.rfind('/')); });
  CHECK(history.tests({}).size() == 2);
  CHECK(history.hints("/src/one").of("ring.so", "Ring.a").last == Verdict::Fail);
  CHECK(history.hints("/src/two").of("ring.so", "Ring.a").last == Verdict::Pass);
}

TEST_CASE("tests of two projects with equal ids share no history") {
  History history = History::in_memory();
  history.record(run_of("a", 1, {test_of("Ring.a", Verdict::Fail, 5ms)}), "/src/one");
  history.record(run_of("b", 2, {test_of("Ring.a", Verdict::Pass, 9ms)}), "/src/two");
  const std::vector<TestLine> lines = history.tests({});
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].project == "/src/one");
  CHECK(lines[0].verdict == Verdict::Fail);
  CHECK(lines[1].project == "/src/two");
  CHECK(lines[1].verdict == Verdict::Pass);
  CHECK(history.hints("/src/one").of("ring.so", "Ring.a").last == Verdict::Fail);
  CHECK(history.hints("/src/two").of("ring.so", "Ring.a").last == Verdict::Pass);
  CHECK_FALSE(history.hints("/src/three").of("ring.so", "Ring.a").last);
  Selection selection;
  selection.project = "/src/two";
  CHECK(history.results(selection, 0).size() == 1);
  CHECK(history.results(selection, 0).at(0).run_id == "b");
}
