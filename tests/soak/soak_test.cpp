// Tests the soak itself: what it draws, and that it detects errors.
#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "draw.hpp"
#include "fixtures/expected_soak.hpp"
#include "tally.hpp"
#include "verify.hpp"

namespace {

using namespace distrun::soak;
using distrun::fixtures::Disturbs;
using distrun::fixtures::soak_disturbances;
using distrun::fixtures::soak_faults;
using distrun::testing::AttemptResult;
using distrun::testing::Summary;
using distrun::testing::TestResult;

constexpr int kPlenty = 10'000;

std::vector<std::string> ids(const Invocation& invocation) {
  std::vector<std::string> all;
  for (const Case& each : invocation.cases) all.push_back(each.id());
  return all;
}

Invocation of_one(Case played, Disturbs disturbs = Disturbs::Nothing) {
  Invocation invocation;
  invocation.isolation = "process";
  invocation.disturbs = disturbs;
  invocation.cases.push_back(std::move(played));
  return invocation;
}

const Case kCrash = {.fault = "segmentation_fault", .moment = "late", .world_size = 3, .culprit = 1};

TestResult right_crash() {
  AttemptResult attempt;
  attempt.verdict = "crash";
  attempt.culprits = {1};
  attempt.duration_ms = 40;
  attempt.ranks.resize(3);
  TestResult test;
  test.id = kCrash.id();
  test.verdict = "crash";
  test.message = "rank 1 was killed by signal 11 (SIGSEGV) in the test body";
  test.attempts = {attempt};
  return test;
}

Seen seen_with(TestResult test) {
  Seen seen;
  seen.exit_code = 1;
  seen.summary = Summary{};
  seen.summary->tests = {std::move(test)};
  return seen;
}

// Returns the number of errors in all checks.
std::size_t wrong_in(const std::vector<Checked>& all) {
  std::size_t count = 0;
  for (const Checked& each : all) count += each.wrong.size();
  return count;
}

}  // namespace

TEST_CASE("a seed draws the same again, for any number of tests", "[soak]") {
  Draw first(7);
  Draw again(7);
  Draw other(8);
  int differ = 0;
  for (int i = 0; i < 20; ++i) {
    const Invocation one = first.next(kPlenty);
    const Invocation same = again.next(i % 2 == 0 ? kPlenty : 3);
    CHECK(same.isolation == one.isolation);
    CHECK((same.disturbs == one.disturbs));
    for (std::size_t k = 0; k < same.cases.size(); ++k) CHECK(same.cases[k].id() == one.cases[k].id());
    differ += ids(other.next(kPlenty)) == ids(one) ? 0 : 1;
  }
  CHECK(differ == 20);
}

TEST_CASE("the first four invocations have every fault in every isolation", "[soak]") {
  Draw draw(3);
  std::set<std::pair<std::string, std::string>> cells;
  for (int i = 0; i < 4; ++i) {
    const Invocation invocation = draw.next(kPlenty);
    CHECK((invocation.disturbs == Disturbs::Nothing));
    for (const Case& each : invocation.cases) cells.insert({each.fault, invocation.isolation});
  }
  CHECK(cells.size() == soak_faults().size() * 4);
}

TEST_CASE("no invocation has a test twice, an invalid culprit, or with --jobs a test that must run alone", "[soak]") {
  Draw draw(5);
  for (int i = 0; i < 100; ++i) {
    const Invocation invocation = draw.next(kPlenty);
    const std::vector<std::string> all = ids(invocation);
    CHECK(std::set<std::string>(all.begin(), all.end()).size() == all.size());
    for (const Case& each : invocation.cases) {
      CHECK(each.culprit < each.world_size);
      if (invocation.jobs > 1) CHECK(distrun::fixtures::soak_fault(each.fault).one_at_a_time.empty());
    }
  }
}

TEST_CASE("every disturbance is drawn, and only where it is possible", "[soak]") {
  Draw draw(11);
  std::set<Disturbs> drawn;
  for (int i = 0; i < 200; ++i) {
    const Invocation invocation = draw.next(kPlenty);
    drawn.insert(invocation.disturbs);
    if (invocation.isolation == "exec") CHECK_FALSE(invocation.disturbs == Disturbs::KilledZygote);
    if (!invocation.through_daemon) CHECK_FALSE(invocation.disturbs == Disturbs::KilledDaemon);
  }
  CHECK(drawn.size() == soak_disturbances().size());
}

TEST_CASE("about half of the disturbed invocations go through a daemon, in every isolation", "[soak]") {
  Draw draw(13);
  std::map<std::string, int> through;
  for (int i = 0; i < 200; ++i) {
    const Invocation invocation = draw.next(kPlenty);
    through[invocation.isolation] += invocation.through_daemon ? 1 : 0;
  }
  CHECK(through.size() == 4);
  for (const auto& [isolation, count] : through) {
    INFO(isolation);
    CHECK(count > 12);
    CHECK(count < 38);
  }
}

TEST_CASE("a test with the expected result has no finding", "[soak]") {
  CHECK(wrong_with_test(kCrash, "process", right_crash(), 1).empty());
  CHECK(wrong_in(check(of_one(kCrash), seen_with(right_crash()), 1)) == 0);
}

TEST_CASE("every difference from the table is found", "[soak]") {
  TestResult test = right_crash();
  AttemptResult& attempt = test.attempts.front();
  SECTION("the verdict") { test.verdict = "fail"; }
  SECTION("the message") { test.message = "rank 1 was killed by signal 6 (SIGABRT) in the test body"; }
  SECTION("another culprit") { attempt.culprits = {2}; }
  SECTION("an extra culprit") { attempt.culprits = {1, 2}; }
  SECTION("no culprit") { attempt.culprits = {}; }
  SECTION("an extra leak") { attempt.leaks = {{"process", "process 17 (sleep)", true}}; }
  SECTION("a missing rank") { attempt.ranks.resize(2); }
  SECTION("an end that is too late") { attempt.duration_ms = 3001; }
  SECTION("a second attempt") { test.attempts.push_back(attempt); }
  CHECK_FALSE(wrong_with_test(kCrash, "process", test, 1).empty());
}

TEST_CASE("a leak must be reported, and reported as removed", "[soak]") {
  const Case left = {.fault = "leave_child", .moment = "late", .world_size = 1, .culprit = 0};
  TestResult test = right_crash();
  test.id = left.id();
  test.verdict = "leak";
  test.message = "left behind: a process";
  AttemptResult& attempt = test.attempts.front();
  attempt.culprits = {};
  attempt.ranks.resize(1);
  CHECK(wrong_with_test(left, "pool", test, 1).size() > 0);
  attempt.leaks = {{"process", "process 17 (sleep)", false}};
  CHECK(wrong_with_test(left, "pool", test, 1).size() > 0);
  attempt.leaks.front().removed = true;
  CHECK(wrong_with_test(left, "pool", test, 1).empty());
}

TEST_CASE("in threads a death without a thread may be blamed on any rank", "[soak]") {
  const Case killed = {.fault = "kill", .moment = "late", .world_size = 3, .culprit = 0};
  TestResult test = right_crash();
  test.message = "rank 1 was killed by signal 9 (SIGKILL) in the test body";
  CHECK_FALSE(wrong_with_test(killed, "process", test, 1).empty());
  CHECK(wrong_with_test(killed, "threads", test, 1).empty());
}

TEST_CASE("every error of a run as a whole is found", "[soak]") {
  Seen seen = seen_with(right_crash());
  SECTION("its exit code") { seen.exit_code = 0; }
  SECTION("leftovers") { seen.remains = {"process 17 (sleep)"}; }
  SECTION("a run that does not end") { seen.out_of_time = true; }
  SECTION("a missing summary") { seen.summary.reset(); }
  SECTION("a missing test") { seen.summary->tests.clear(); }
  SECTION("an extra test") { seen.summary->tests.front().id = "Soak.ends_in_1/fault=none"; }
  SECTION("a problem") {
    seen.summary->problems = {{"", "leak", "a file"}};
    seen.exit_code = 3;
  }
  CHECK(wrong_in(check(of_one(kCrash), seen, 1)) > 0);
}

TEST_CASE("a disturbance explains what the table allows, and only if it happened", "[soak]") {
  TestResult test = right_crash();
  test.verdict = "infra-error";
  Seen seen = seen_with(test);
  seen.exit_code = 3;
  seen.struck = true;
  CHECK(wrong_in(check(of_one(kCrash, Disturbs::KilledZygote), seen, 1)) == 0);
  seen.struck = false;
  CHECK(wrong_in(check(of_one(kCrash, Disturbs::KilledZygote), seen, 1)) > 0);
}

TEST_CASE("a run with a killed daemon may lack tests, and its client says why", "[soak]") {
  TestResult test = right_crash();
  test.verdict = "cancelled";
  Seen seen = seen_with(test);
  seen.struck = true;
  seen.exit_code = 3;
  seen.console = "distrun: the daemon has died and ended the run";
  seen.served = 0;
  seen.daemon_end = 0;
  Invocation invocation = of_one(kCrash, Disturbs::KilledDaemon);
  invocation.through_daemon = true;
  invocation.cases.push_back({.fault = "none", .moment = "late"});
  CHECK(wrong_in(check(invocation, seen, 1)) == 0);
  SECTION("but it is no other run's") { invocation.disturbs = Disturbs::Nothing; }
  SECTION("but it must say so") { seen.console.clear(); }
  SECTION("but it must not look like a complete run") { seen.exit_code = 0; }
  SECTION("but the next one is served") { seen.served = 3; }
  SECTION("but the daemon ends when it should") { seen.daemon_end = -1; }
  SECTION("but it leaves nothing") { seen.remains = {"process 17 (distrun)"}; }
  CHECK(wrong_in(check(invocation, seen, 1)) > 0);
}

TEST_CASE("a client's exit code after its guard was killed is not the guard's own", "[soak]") {
  Seen seen;
  seen.struck = true;
  seen.served = seen.daemon_end = 0;
  Invocation invocation = of_one(kCrash, Disturbs::KilledGuard);
  invocation.through_daemon = true;
  seen.exit_code = 137;
  CHECK(wrong_in(check(invocation, seen, 1)) == 0);
  seen.exit_code = -1;
  CHECK(wrong_in(check(invocation, seen, 1)) == 1);
}

TEST_CASE("finished tests of a run that was killed are judged by the events", "[soak]") {
  Seen seen;
  seen.struck = true;
  seen.exit_code = 3;
  seen.console = "distrun: the coordinator was killed by signal 9 (SIGKILL); ended 4 of its processes";
  seen.verdicts = {{kCrash.id(), "crash"}};
  CHECK(wrong_in(check(of_one(kCrash, Disturbs::KilledCoordinator), seen, 1)) == 0);
  seen.verdicts = {{kCrash.id(), "pass"}};
  CHECK(wrong_in(check(of_one(kCrash, Disturbs::KilledCoordinator), seen, 1)) == 1);
}

TEST_CASE("findings are reported with the commands that reproduce them", "[soak]") {
  const Programs programs{"build/bin/distrun", "build/bin/distrund", "soak.so", "neighbour"};
  Tally tally({.tests = 60, .seed = 9, .programs = programs});
  Invocation invocation = of_one(kCrash);
  invocation.number = 2;
  tally.add(invocation, {{"segmentation_fault", "process", kCrash.id(), {"verdict is pass, not crash"}}});
  CHECK(tally.wrong() == 1);
  CHECK_THAT(tally.wrong_text(), Catch::Contains("verdict is pass, not crash") &&
                                     Catch::Contains("--filter " + kCrash.id() + " soak.so") &&
                                     Catch::Contains("scripts/soak 60 --seed 9 --only 2"));
  CHECK_THAT(tally.matrix(), Catch::Contains("1 (1!)"));
}
