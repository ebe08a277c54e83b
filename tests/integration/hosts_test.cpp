// Runs on two hosts that are nodes of this machine: what reports say of them, and that nothing is left if any process
// of a run is killed. tests/checks/hosts.sh has hosts with networks of their own.
#include <catch2/catch.hpp>

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "host_processes.hpp"
#include "programs.hpp"
#include "support/skip.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;
using Texts = std::vector<std::string>;

constexpr milliseconds kHostsStartWithin{20'000};
constexpr milliseconds kHostsGoneWithin{2000};
constexpr int kNodeKills = 20;
constexpr int kNodeKillSeed = 4;

Texts on_two_hosts(const Sandbox& sandbox, const Texts& more) {
  Texts words{"run", "--hosts", "a,b", "--launcher", "local", "--output", sandbox.output()};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Ended run_on_hosts(const Sandbox& sandbox, const Texts& more) {
  return sandbox.run(on_two_hosts(sandbox, more), at_latest(milliseconds(60'000)));
}

Running start_sleeping(const Sandbox& sandbox, const std::string& isolation = "process") {
  return sandbox.start(on_two_hosts(
      sandbox, {"--timeout", "300s", "--isolation", isolation, "--filter", "Hangs.one_sleeps", plugin("hangs")}));
}

// Returns whether all four ranks run the body of a test.
bool has_begun(const Sandbox& sandbox) {
  const std::string path = sandbox.output() + "/events.ndjson";
  const std::string events = exists(path) ? read_file(path) : "";
  const auto runs = [&events](const char* rank) {
    return events.find("\"rank\":" + std::string(rank) + ",\"phase\":\"body\"") != std::string::npos;
  };
  return runs("0") && runs("1") && runs("2") && runs("3");
}

std::vector<pid_t> victims_among(const ProcessesOfRun& run, const std::string& who) {
  if (who == "guard") return {run.guard};
  if (who == "coordinator" && run.coordinator != 0) return {run.coordinator};
  if (who == "guard and coordinator" && run.coordinator != 0) return {run.guard, run.coordinator};
  if (who == "guard of a node" && !run.node_guards.empty()) return {run.node_guards.back()};
  if (who == "node" && !run.nodes.empty()) return {run.nodes.back()};
  return {};
}

void expect_nothing_left(const Sandbox& sandbox) {
  CHECK(eventually(at_latest(kHostsGoneWithin), [&] { return sandbox.remains().empty(); }));
  for (const std::string& what : sandbox.remains()) UNSCOPED_INFO(what);
  CHECK(sandbox.remains().empty());
  sandbox.sweep();
}

nlohmann::json ranks_in_summary(const Sandbox& sandbox) {
  return nlohmann::json::parse(read_file(sandbox.output() + "/summary.json"))["tests"][0]["attempts"][0]["ranks"];
}

}  // namespace

TEST_CASE("a summary names the host of each rank, and has the output of the ranks of all hosts", "[hosts]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = run_on_hosts(sandbox, {"--filter", "Prints.then_leaves", plugin("prints")});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 1);
  const nlohmann::json ranks = ranks_in_summary(sandbox);
  REQUIRE(ranks.size() == 4);
  for (std::size_t i = 0; i < ranks.size(); ++i) CHECK(ranks[i]["host"] == (i < 2 ? "a" : "b"));
  CHECK_THAT(sandbox.summary().tests.at(0).attempts.at(0).ranks.at(1).out, Contains("a line of printf()"));
  CHECK_THAT(ended.out, Contains("rank 1 on a"));
  CHECK(wrong_with_reports(sandbox).empty());
  expect_nothing_left(sandbox);
}

TEST_CASE("what a test leaves on a host is found, ended, and named with the host", "[hosts]") {
  const std::string test = GENERATE("Leaves.child", "Leaves.program");
  const Sandbox sandbox(distrun_program());
  const Ended ended = run_on_hosts(sandbox, {"-w", "2", "--filter", test, plugin("leaves")});
  INFO(test << ended.out << ended.err);
  const Summary summary = sandbox.summary();
  CHECK(summary.tests.at(0).verdict == "leak");
  const std::vector<LeakResult> leaks = summary.tests.at(0).attempts.at(0).leaks;
  REQUIRE(leaks.size() == 1);
  CHECK_THAT(leaks.at(0).what, Catch::EndsWith(" on b"));
  expect_nothing_left(sandbox);
}

TEST_CASE("a file that a suite's host leaves on another machine fails the suite", "[hosts]") {
  const Sandbox sandbox(distrun_program());
  // The launcher `local` does not watch /tmp itself.
  const Ended ended =
      sandbox.run({"run", "--hosts", "one", "--launcher", "{node}", "--output", sandbox.output(), "--isolation",
                   GENERATE("process", "pool"), "--filter", "HostLeavesFile", plugin("suites")},
                  at_latest(milliseconds(60'000)));
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 1);
  const Summary summary = sandbox.summary();
  REQUIRE(summary.tests.size() == 2);
  CHECK(summary.tests.at(0).verdict == "pass");
  CHECK(summary.tests.at(1).verdict == "leak");
  CHECK_THAT(summary.tests.at(1).message, Contains("the suite's tear-down failed: the host has left behind: file ") &&
                                              Catch::EndsWith("-of-host on one"));
  CHECK(summary.problems.empty());
  expect_nothing_left(sandbox);
}

TEST_CASE("the report and commands show a rank that hangs with the stacks of all hosts", "[hosts]") {
  const Sandbox sandbox(distrun_program());
  Running running =
      sandbox.start(on_two_hosts(sandbox, {"--timeout", "12s", "--filter", "Hangs.one_sleeps", plugin("hangs")}));
  REQUIRE(eventually(at_latest(kHostsStartWithin), [&] { return has_begun(sandbox); }));
  const std::string id = sandbox.run_id_in_use();
  const Ended stacks = sandbox.run({"stacks", id});
  INFO(stacks.out << stacks.err);
  CHECK(stacks.exit_code == 0);
  CHECK_THAT(stacks.out, Contains("fixture::nap") && Contains("on a") && Contains("on b"));
  const Ended ps = sandbox.run({"ps"});
  CHECK_THAT(ps.out, Contains(id) && Contains("Hangs.one_sleeps"));
  const Ended doctor = sandbox.run({"doctor", id});
  INFO(doctor.out << doctor.err);
  CHECK_THAT(doctor.out, Contains("barrier \"meet\""));
  const Ended ended = running.wait(at_latest(milliseconds(60'000)));
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 1);
  CHECK_THAT(ended.out, Contains("missing rank") && Contains("fixture::nap") && Contains("2-3 on b"));
  expect_nothing_left(sandbox);
}

TEST_CASE("doctor proves a deadlock of ranks on two hosts, and none while one of them works", "[hosts][doctor]") {
  const bool is_deadlock = GENERATE(true, false);
  const Sandbox sandbox(distrun_program());
  // In both, all ranks wait for each other's messages. The watch would end the first.
  Running running = sandbox.start(
      on_two_hosts(sandbox, {"--deadlock", "off", "--timeout", "300s", "--filter",
                             is_deadlock ? "Hangs.all_receive" : "Hangs.circle_with_a_helper", plugin("hangs")}));
  REQUIRE(eventually(at_latest(kHostsStartWithin), [&] { return has_begun(sandbox); }));
  const std::string id = sandbox.run_id_in_use();
  const std::string certainty = is_deadlock ? "(proven)" : "(likely)";
  Ended doctor;
  // Its first look must find the ranks in their waits.
  const bool has_found = eventually(at_latest(kHostsStartWithin), [&] {
    doctor = sandbox.run({"doctor", id}, at_latest(kHostsStartWithin));
    return doctor.out.find("deadlock " + certainty + ": ranks 0-1 on a, 2-3 on b wait for") != std::string::npos;
  });
  INFO(doctor.out << doctor.err);
  CHECK(has_found);
  CHECK(doctor.exit_code == 1);
  if (!is_deadlock) doctor = sandbox.run({"doctor", id}, at_latest(kHostsStartWithin));
  CHECK_THAT(doctor.out, Contains(certainty));
  running.signal(SIGINT);
  CHECK(running.wait(at_latest(milliseconds(4000))).exit_code == kInterrupted);
  expect_nothing_left(sandbox);
}

TEST_CASE("attach starts gdb on a rank of a host, or prints the command that does", "[hosts]") {
  skip_case_if(!exists("/usr/bin/gdb"), "there is no gdb");
  const Sandbox sandbox(distrun_program());
  Running running = start_sleeping(sandbox);
  REQUIRE(eventually(at_latest(kHostsStartWithin), [&] { return has_begun(sandbox); }));
  const std::string id = sandbox.run_id_in_use();
  const Ended printed = sandbox.run({"attach", id, "3", "--print"});
  CHECK(printed.exit_code == 0);
  CHECK_THAT(printed.out, Catch::Matches("gdb -q -p [0-9]+\n"));
  const Ended attached = sandbox.run({"attach", id, "3"});  // gdb's commands end at once
  INFO(attached.out << attached.err);
  CHECK(attached.exit_code == 0);
  CHECK_THAT(attached.out, Contains("gdb on rank 3 on b (pid ") && Contains(") detached"));
  running.signal(SIGINT);
  CHECK(running.wait(at_latest(milliseconds(4000))).exit_code == kInterrupted);
  expect_nothing_left(sandbox);
}

TEST_CASE("a signal ends a run on hosts, also while hosts join", "[hosts][interrupt]") {
  const bool is_joining = GENERATE(false, true);
  const Sandbox sandbox(distrun_program());
  Running running = is_joining ? sandbox.start({"run", "--hosts", "a,b", "--launcher", "exec sleep 100; {node}",
                                                "--output", sandbox.output(), plugin("passes")})
                               : start_sleeping(sandbox);
  REQUIRE(eventually(at_latest(kHostsStartWithin),
                     [&] { return is_joining ? sandbox.processes().size() == 4 : has_begun(sandbox); }));
  running.signal(SIGINT);
  const Ended ended = running.wait(at_latest(milliseconds(2000)));
  INFO(is_joining << ended.out << ended.err);
  CHECK_FALSE(ended.out_of_time);
  CHECK(ended.exit_code == kInterrupted);
  CHECK(sandbox.summary().interrupted);
  expect_nothing_left(sandbox);
}

TEST_CASE("a signal that ends launchers first interrupts the run: no host has failed to join", "[hosts][interrupt]") {
  const Sandbox sandbox(distrun_program());
  Running running = sandbox.start({"run", "--hosts", "a,b", "--launcher", "exec sleep 100; {node}", "--output",
                                   sandbox.output(), plugin("passes")});
  std::vector<pid_t> launchers;
  const auto find = [&] {
    launchers.clear();
    for (const ProcessInfo& process : sandbox.processes()) {
      if (process.name == "sleep") launchers.push_back(process.pid);
    }
    return launchers.size();
  };
  REQUIRE(eventually(at_latest(kHostsStartWithin), [&] { return find() == 2; }));
  for (const pid_t launcher : launchers) ::kill(launcher, SIGTERM);
  REQUIRE(eventually(at_latest(kHostsGoneWithin), [&] { return find() == 0; }));
  running.signal(SIGTERM);
  const Ended ended = running.wait(at_latest(milliseconds(2000)));
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == kInterrupted);
  CHECK(sandbox.summary().interrupted);
  CHECK(sandbox.summary().problems.empty());
  expect_nothing_left(sandbox);
}

TEST_CASE("a lost host fails the running test and those that would need it, and no others", "[hosts]") {
  const Sandbox sandbox(distrun_program());
  Running running = sandbox.start({"run", "--hosts", "a:2,b:2", "--launcher", "local", "--output", sandbox.output(),
                                   "--timeout", "300s", "--filter", "Hangs.all_*", "--filter", "Passes.world_of_2",
                                   plugin("hangs"), plugin("passes")});
  REQUIRE(eventually(at_latest(kHostsStartWithin), [&] { return has_begun(sandbox); }));
  ::kill(processes_of(sandbox, running).node_guards.back(), SIGKILL);
  const Ended ended = running.wait(at_latest(milliseconds(20'000)));
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == kInfraError);
  const Summary summary = sandbox.summary();
  REQUIRE(summary.tests.size() == 3);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(summary.tests.at(i).verdict == "infra-error");
    CHECK_THAT(summary.tests.at(i).message, Contains("was lost: its node ended; distrun was killed by signal 9"));
  }
  CHECK(summary.tests.at(2).verdict == "pass");
  CHECK(summary.problems.empty());
  expect_nothing_left(sandbox);
}

TEST_CASE("a test with more ranks than fit on the hosts is an infra-error, and the others run", "[hosts]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"run", "--hosts", "a:2,b:2", "--launcher", "local", "--output", sandbox.output(),
                                   "--filter", "Passes.world_of_17", "--filter", "Passes.world_of_2", plugin("passes")},
                                  at_latest(milliseconds(20'000)));
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == kInfraError);
  const Summary summary = sandbox.summary();
  REQUIRE(summary.tests.size() == 2);
  CHECK(summary.find("Passes.world_of_2")->verdict == "pass");
  CHECK(summary.find("Passes.world_of_17")->verdict == "infra-error");
  CHECK_THAT(summary.find("Passes.world_of_17")->message, Contains("a world of 17 ranks does not fit on 2 hosts"));
  expect_nothing_left(sandbox);
}

TEST_CASE("hosts that cannot be started are a problem of the run, with the words of their launchers", "[hosts]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"run", "--hosts", "a,b", "--launcher", "echo no such machine {host}; exit 3",
                                   "--output", sandbox.output(), plugin("passes")});
  CHECK(ended.exit_code == kInfraError);
  CHECK_THAT(ended.out, Contains("sh exited with code 3 before its node joined: no such machine "));
  const Summary summary = sandbox.summary();
  CHECK(summary.problems.size() == 1);
  CHECK(summary.tests.empty());
  expect_nothing_left(sandbox);
}

TEST_CASE("if a process of a run on hosts is killed at any time, the run ends and nothing is left", "[hosts][kill]") {
  const char* const rounds = std::getenv("DISTRUN_NODE_KILL_ROUNDS");
  std::mt19937 random(kNodeKillSeed);
  for (int i = 0; i < (rounds == nullptr ? kNodeKills : std::atoi(rounds)); ++i) {
    const Texts kinds{"guard", "coordinator", "guard and coordinator", "guard of a node", "node"};
    const auto round = static_cast<std::size_t>(i);
    const std::string who = kinds[round % kinds.size()];
    const std::string isolation = round / kinds.size() % 2 == 0 ? "process" : "pool";
    const milliseconds after(random() % 1500);
    INFO("round " << i << " with isolation " << isolation << ": " << who << " after " << after.count() << " ms");
    const Sandbox sandbox(distrun_program());
    Running running = start_sleeping(sandbox, isolation);
    pause_for(after);
    std::vector<pid_t> victims;
    REQUIRE(eventually(at_latest(kHostsStartWithin), [&] {
      victims = victims_among(processes_of(sandbox, running), who);
      return !victims.empty();
    }));
    for (const pid_t victim : victims) ::kill(victim, SIGKILL);
    const Ended ended = running.wait(at_latest(milliseconds(8000)));
    INFO(ended.out << ended.err);
    CHECK_FALSE(ended.out_of_time);
    CHECK(ended.exit_code == (who.starts_with("guard") && who != "guard of a node" ? -1 : kInfraError));
    expect_nothing_left(sandbox);
  }
}
