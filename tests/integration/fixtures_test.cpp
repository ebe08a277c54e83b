// Runs every fixture in every isolation and through the daemon, and compares with tests/fixtures/expected.hpp.
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "compare.hpp"
#include "fixtures/expected.hpp"
#include "fixtures/expected_blame.hpp"
#include "fixtures/expected_bridges.hpp"
#include "invocation.hpp"
#include "matrix.hpp"
#include "same_summary.hpp"
#include "support/environment.hpp"
#include "support/sandbox.hpp"

namespace {

using namespace distrun::testing;
using distrun::fixtures::Group;
using distrun::fixtures::Row;

// Catch2 finds listeners by registration.
class MatrixPrinter : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;
  void testRunEnded(const Catch::TestRunStats&) override { std::cout << matrix_text() << std::flush; }
};
CATCH_REGISTER_LISTENER(MatrixPrinter)

// Deals out the rows in turn, so that neighbouring slow ones are distributed.
std::vector<Invocation> start(const Group& group, const std::string& isolation, const std::string& way) {
  std::vector<Invocation> invocations(static_cast<std::size_t>(group.parallel));
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    invocations[i % invocations.size()].rows.push_back(group.rows[i]);
  }
  for (Invocation& invocation : invocations) {
    invocation.way = way.empty() ? isolation : way;
    invocation.isolation = isolation;
    begin(group, invocation);
  }
  return invocations;
}

// The table names ranks without their hosts: "ranks 0-1 on one, 2 on two" is "ranks 0-1, 2" there.
std::string without_hosts(std::string text) {
  static const std::regex kHost(" on (one|two)\\b"), kBoth("\\b0-1, 2-3\\b");
  return std::regex_replace(std::regex_replace(text, kHost, ""), kBoth, "0-3");
}

Texts differences_in(const Summary& summary, const Row& row, const std::string& isolation) {
  const TestResult* found = summary.find(row.test);
  if (found == nullptr) return {"the summary has no such test"};
  TestResult named = *found;
  named.message = without_hosts(named.message);
  for (AttemptResult& attempt : named.attempts) {
    for (auto& leak : attempt.leaks) leak.what = without_hosts(leak.what);
  }
  const TestResult* const test = &named;
  Texts findings = differences(row, *test, isolation);
  for (std::string& wrong : wrong_with_leaks(*test)) findings.push_back(std::move(wrong));
  return findings;
}

// Runs of a large group share two cores with dozens of others, and what is seen of a hang depends on time: a row that
// differs there has to be right alone.
Texts differences_alone(const Group& group, Invocation& beside, const Row& in_any, const Row& row) {
  beside.retried = true;
  Invocation alone;
  alone.way = beside.way;
  alone.isolation = beside.isolation;
  alone.rows = {in_any};
  begin(group, alone);
  alone.running->wait(at_latest(std::chrono::seconds(group.seconds_max)));
  Texts findings = differences_in(alone.sandbox->summary(), row, alone.isolation);
  alone.sandbox->sweep();
  return findings;
}

void compare_rows(const Group& group, Invocation& invocation, const Summary& summary) {
  for (const Row& in_any : invocation.rows) {
    const Row row = distrun::fixtures::in_isolation(in_any, invocation.isolation);
    if (invocation.isolation == "threads" && !row.not_in_threads.empty()) continue;
    if (invocation.way == kHosts && !row.not_on_hosts.empty()) continue;
    if (DISTRUN_SANITIZED && !row.not_sanitized.empty()) continue;
    if (DISTRUN_SANITIZED_THREADS && !row.not_thread_sanitized.empty()) continue;
    Texts findings = differences_in(summary, row, invocation.isolation);
    if (!findings.empty() && group.parallel > 1) findings = differences_alone(group, invocation, in_any, row);
    enter_in_matrix(row.test, invocation.way, findings);
    INFO(row.test << ", isolation " << invocation.isolation << ", " << invocation.way);
    for (const std::string& finding : findings) FAIL_CHECK(finding);
  }
  for (const TestResult& test : summary.tests) {
    bool has_row = false;
    for (const Row& row : invocation.rows) has_row = has_row || row.test == test.id;
    INFO(group.plugin << " has the test " << test.id << ", and expected.hpp has no row for it");
    CHECK(has_row);
  }
}

bool holds_in_all(const Group& group) {
  return std::all_of(group.rows.begin(), group.rows.end(),
                     [](const Row& row) { return row.not_in_threads.empty() && row.staying_verdict.empty(); });
}

// Checks the invocation as a whole.
Texts findings_of_run(const Group& group, Invocation& invocation) {
  const Ended& ended = invocation.ended;
  Texts findings;
  const auto add = [&](const Texts& texts) { findings.insert(findings.end(), texts.begin(), texts.end()); };
  if (ended.out_of_time) findings.push_back("did not end in time");
  if (group.parallel == 1 && holds_in_all(group) && ended.exit_code != group.exit_code) {
    findings.push_back("exit code " + std::to_string(ended.exit_code) + ", signal " + std::to_string(ended.signal) +
                       ", not " + std::to_string(group.exit_code));
  }
  add(unprintable(ended.out + ended.err));
  add(invocation.sandbox->remains());
  try {
    const Summary summary = invocation.sandbox->summary();
    add(contradictions(summary));
    add(problem_differences(group, summary));
    compare_rows(group, invocation, summary);
  } catch (const std::exception& error) {
    findings.push_back(error.what());
    findings.push_back("the console got: " + (ended.out + ended.err).substr(0, 2000));
  }
  const std::string events = wrong_with_events(invocation.sandbox->output() + "/events.ndjson");
  if (!events.empty()) findings.push_back("events.ndjson: " + events);
  if (!exists(invocation.sandbox->output() + "/junit.xml")) findings.push_back("no junit.xml");
  return findings;
}

void finish(const Group& group, std::vector<Invocation>& invocations) {
  for (Invocation& invocation : invocations) {
    invocation.ended = invocation.running->wait(at_latest(std::chrono::seconds(group.seconds_max)));
  }
  for (Invocation& invocation : invocations) {
    const Texts findings = findings_of_run(group, invocation);
    invocation.sandbox->sweep();
    enter_in_matrix("[" + group.name + "]", invocation.way, findings);
    INFO("group \"" << group.name << "\", isolation " << invocation.isolation << ", " << invocation.way);
    for (const std::string& finding : findings) FAIL_CHECK(finding);
  }
}

Texts all_isolations_of(const Group& group) {
  switch (group.isolation) {
    case distrun::fixtures::Isolation::Process: return {"process"};
    case distrun::fixtures::Isolation::Exec: return {"exec"};
    case distrun::fixtures::Isolation::Staying: return {"pool", "threads"};
    case distrun::fixtures::Isolation::OneAtATime: return {"process", "exec", "pool"};
    case distrun::fixtures::Isolation::One: return {"process", "exec"};
    case distrun::fixtures::Isolation::All: break;
  }
  return {"process", "exec", "pool", "threads"};
}

// No zygote forks with the thread sanitizer (libdistrun/plugin/rank/zygote.cpp), so isolation `process` has no ranks.
Texts isolations_of(const Group& group) {
  Texts isolations = all_isolations_of(group);
  if (!DISTRUN_SANITIZED_THREADS) return isolations;
  if (!group.not_thread_sanitized.empty()) return {};
  isolations.erase(std::remove(isolations.begin(), isolations.end(), "process"), isolations.end());
  return isolations;
}

std::vector<Row> comparable_rows(const Invocation& invocation) {
  std::vector<Row> rows;
  for (const Row& row : invocation.rows) {
    if (invocation.isolation == "threads" && !row.not_in_threads.empty()) continue;
    Row its = distrun::fixtures::in_isolation(row, invocation.isolation);
    // It is random which thread ends the process first.
    if (invocation.isolation == "threads" && its.verdict != "pass") its.outcomes.clear();
    rows.push_back(std::move(its));
  }
  return rows;
}

Texts differences_of(const Invocation& plain, const Invocation& through) {
  try {
    return unequal(comparable_rows(through), plain.sandbox->summary(), through.sandbox->summary());
  } catch (const std::exception& error) {
    return {error.what()};
  }
}

// Checks that runs in the daemon have the same results as those without it. Both were started alike.
void compare_with_daemon(const Group& group, const std::vector<Invocation>& plain,
                         const std::vector<Invocation>& through) {
  REQUIRE(plain.size() >= through.size());
  for (std::size_t i = 0; i < through.size(); ++i) {
    if (plain[i].retried || through[i].retried) continue;
    const Texts findings = differences_of(plain[i], through[i]);
    enter_in_matrix("[" + group.name + "]", kDaemon, findings);
    INFO("group \"" << group.name << "\", isolation " << through[i].isolation << " through the daemon");
    for (const std::string& finding : findings) FAIL_CHECK(finding);
  }
}

// Returns the isolations for the daemon's runs: the first one, or all of them where tests run whole.
Texts isolations_for(const Group& group, bool through_daemon) {
  Texts isolations = isolations_of(group);
  if (through_daemon && !runs_whole() && isolations.size() > 1) isolations.resize(1);
  return isolations;
}

// Runs all isolations at the same time.
std::vector<Invocation> run_at_once(const Group& group, bool through_daemon) {
  std::vector<Invocation> all;
  for (const std::string& isolation : isolations_for(group, through_daemon)) {
    std::vector<Invocation> invocations = start(group, isolation, through_daemon ? kDaemon : "");
    std::move(invocations.begin(), invocations.end(), std::back_inserter(all));
  }
  finish(group, all);
  return all;
}

std::vector<Invocation> run_one_by_one(const Group& group, bool through_daemon) {
  std::vector<Invocation> all;
  for (const std::string& isolation : isolations_for(group, through_daemon)) {
    std::vector<Invocation> invocations = start(group, isolation, through_daemon ? kDaemon : "");
    finish(group, invocations);
    std::move(invocations.begin(), invocations.end(), std::back_inserter(all));
  }
  return all;
}

// Sanitizer builds skip the daemon: the plain run covers distrun and other tests cover the daemon, so it would only
// cost time.
void run_together(const Group& group) {
  const std::vector<Invocation> plain = run_at_once(group, false);
  if (!DISTRUN_SANITIZED) compare_with_daemon(group, plain, run_at_once(group, true));
}

// Ranks of two nodes have the results of ranks of one machine.
void run_on_hosts(const Group& group) {
  const Texts isolations = isolations_of(group);
  if (std::find(isolations.begin(), isolations.end(), "process") == isolations.end()) return;
  std::vector<Invocation> invocations = start(group, "process", kHosts);
  finish(group, invocations);
}

// Runs groups that would interfere with each other if concurrent.
void run_in_turn(const Group& group) {
  const std::vector<Invocation> plain = run_one_by_one(group, false);
  if (!DISTRUN_SANITIZED) compare_with_daemon(group, plain, run_one_by_one(group, true));
}

}  // namespace

TEST_CASE("passing fixtures pass", "[fixtures]") { run_together(distrun::fixtures::passes_group()); }

TEST_CASE("failing fixtures fail for the right reason", "[fixtures]") {
  run_together(distrun::fixtures::fails_group());
}

TEST_CASE("crashing fixtures are reported with their signals", "[fixtures]") {
  run_together(distrun::fixtures::crashes_group());
}

TEST_CASE("declared deaths are not failures, and others are", "[fixtures]") {
  run_together(distrun::fixtures::declared_deaths_group());
}

// The daemon makes no difference here.
TEST_CASE("a rank that exits while others need it is blamed", "[fixtures]") {
  run_one_by_one(distrun::fixtures::blame_group(), false);
}

TEST_CASE("fixtures that leave early have no result", "[fixtures]") { run_together(distrun::fixtures::exits_group()); }

TEST_CASE("errors after a passed body are reported, and left out on request", "[fixtures]") {
  for (const Group& group : distrun::fixtures::ends_groups()) run_together(group);
}

TEST_CASE("changes of a test to its process do not affect the next test", "[fixtures]") {
  run_together(distrun::fixtures::changes_group());
}

TEST_CASE("a child that continues as if it were the rank is detected", "[fixtures]") {
  run_together(distrun::fixtures::strays_group());
}

TEST_CASE("fixtures that hang in the body end in time", "[fixtures]") {
  run_together(distrun::fixtures::hangs_group());
  run_together(distrun::fixtures::hangs_stopped_group());
}

TEST_CASE("waits of a runtime for other ranks are shown, and end when one fails", "[fixtures]") {
  run_together(distrun::fixtures::runtime_group());
}

TEST_CASE("handlers that a test leaves running do not affect other tests", "[fixtures]") {
  run_together(distrun::fixtures::handlers_group());
}

TEST_CASE("collectives that a rank does not join end with its name", "[fixtures]") {
  run_together(distrun::fixtures::collectives_group());
  run_together(distrun::fixtures::meetings_group());
  run_together(distrun::fixtures::gpu_collectives_group());
}

TEST_CASE("fixtures that hang in other phases end in time", "[fixtures]") {
  run_together(distrun::fixtures::hangs_in_other_phases_group());
}

TEST_CASE("fixtures that leave something behind are detected", "[fixtures][alone]") {
  run_in_turn(distrun::fixtures::leaves_group());
}

TEST_CASE("fixtures that flood the output do no harm", "[fixtures]") { run_in_turn(distrun::fixtures::floods_group()); }

TEST_CASE("lines that a rank has printed are kept, however it ends", "[fixtures]") {
  run_together(distrun::fixtures::prints_group());
}

TEST_CASE("fixtures that skip are distinguished from those that disagree", "[fixtures]") {
  run_together(distrun::fixtures::skips_group());
}

TEST_CASE("flaky fixtures pass on a retry", "[fixtures]") { run_together(distrun::fixtures::flaky_group()); }

TEST_CASE("tests of GoogleTest have the expected results on any rank", "[fixtures][bridges]") {
  run_together(distrun::fixtures::gtest_group());
}

TEST_CASE("test cases of Catch2 have the expected results on any rank", "[fixtures][bridges]") {
  run_together(distrun::fixtures::catch2_group());
}

TEST_CASE("suites with failing fixtures fail for the right reason", "[fixtures]") {
  for (const Group& group : distrun::fixtures::suite_groups()) {
    run_together(group);
  }
}

TEST_CASE("ranks see the devices of the run, or one each", "[fixtures]") {
  ::setenv("CUDA_VISIBLE_DEVICES", "5,3", 1);
  run_together(distrun::fixtures::devices_group());
  ::unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_CASE("plugins that fail while they are loaded are named", "[fixtures]") {
  for (const Group& group : distrun::fixtures::load_groups()) {
    run_together(group);
  }
}

TEST_CASE("errors of a plugin while it is unloaded are reported for its ranks", "[fixtures]") {
  for (const Group& group : distrun::fixtures::unload_groups()) {
    run_together(group);
  }
}

TEST_CASE("passing and failing fixtures have the same results on two hosts", "[fixtures][hosts]") {
  run_on_hosts(distrun::fixtures::passes_group());
  run_on_hosts(distrun::fixtures::fails_group());
  run_on_hosts(distrun::fixtures::skips_group());
  run_on_hosts(distrun::fixtures::flaky_group());
}

TEST_CASE("fixtures that crash or leave early have the same results on two hosts", "[fixtures][hosts]") {
  run_on_hosts(distrun::fixtures::crashes_group());
  run_on_hosts(distrun::fixtures::exits_group());
  run_on_hosts(distrun::fixtures::declared_deaths_group());
}

TEST_CASE("fixtures that hang have the same results on two hosts", "[fixtures][hosts]") {
  run_on_hosts(distrun::fixtures::hangs_group());
  run_on_hosts(distrun::fixtures::hangs_stopped_group());
  run_on_hosts(distrun::fixtures::hangs_in_other_phases_group());
}

TEST_CASE("suites have the same results on two hosts", "[fixtures][hosts]") {
  for (const Group& group : distrun::fixtures::suite_groups()) run_on_hosts(group);
}

TEST_CASE("lines that ranks of two hosts have printed are kept", "[fixtures][hosts]") {
  run_on_hosts(distrun::fixtures::prints_group());
}
