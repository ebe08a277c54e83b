// Inspects a run in progress: ps, stacks, attach, the signal and the key for stacks, debuggers and Ctrl-Z.
#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <unistd.h>

#include <regex>
#include <string>
#include <vector>

#include "programs.hpp"
#include "support/skip.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

// A run of one test in which a number of ranks wait for the others; ps is used to detect that.
class HangingRun {
 public:
  // Rank 1 sleeps while the others wait for it.
  explicit HangingRun(const std::string& timeout = "100s")
      : HangingRun("Hangs.one_sleeps", "hangs", "barrier \"meet\" [^\n]* for rank 1\n", 3, timeout) {}
  HangingRun(const std::string& test, const std::string& fixture, const std::string& waiting, int waiters,
             const std::string& timeout = "100s")
      : waiting_(waiting), waiters_(waiters), running_(sandbox_.start(arguments(test, fixture, timeout))) {
    REQUIRE(eventually(scaled(milliseconds(10'000)), [&] { return waits(); }));
  }

  // Returns whether all waiters wait, and rank 1 has a state too.
  bool waits() const {
    const std::string text = status();
    const auto found = std::distance(std::sregex_iterator(text.begin(), text.end(), waiting_), std::sregex_iterator());
    return found == waiters_ && !std::regex_search(text, std::regex(" 1 +[0-9]+ +[a-z]+ +- "));
  }
  // The process that had the id may have ended since; without an id, ps would list the runs of other tests.
  std::string status() const {
    const std::string id = this->id();
    return id.empty() ? "" : ask({"ps", id}).out;
  }
  Ended ask(std::vector<std::string> arguments) const {
    Command command = sandbox_.command(std::move(arguments));
    command.capture = sandbox_.output() + "/asked";
    return Running(command).wait(scaled(milliseconds(10'000)));
  }
  std::string id() const { return sandbox_.run_id_in_use(); }
  // Returns the pid of a rank according to ps, or 0.
  pid_t pid_of(int rank) const {
    const std::string text = status();
    std::smatch found;
    const std::regex line("\n +" + std::to_string(rank) + " +([0-9]+) ");
    return std::regex_search(text, found, line) ? std::stoi(found[1]) : 0;
  }
  Running& running() { return running_; }
  const Sandbox& sandbox() const { return sandbox_; }
  Ended stop() {
    running_.signal(SIGINT);
    Ended ended = running_.wait(scaled(milliseconds(5'000)));
    sandbox_.sweep();
    return ended;
  }

 private:
  std::vector<std::string> arguments(const std::string& test, const std::string& fixture,
                                     const std::string& timeout) const {
    const std::string scale = std::to_string(time_scale());
    return {"run",       "--output", sandbox_.output(), "--filter", test,
            "--timeout", timeout,    "--timeout-scale", scale,      plugin(fixture)};
  }

  std::regex waiting_;
  int waiters_;

  Sandbox sandbox_{distrun_program()};
  Running running_;
};

// Traces a process like a debugger, until destroyed. A concurrent inspection of all runs may hold the process for a
// moment.
class Tracer {
 public:
  explicit Tracer(pid_t pid) : pid_(pid) {
    const auto traces = [pid] { return ::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0; };
    const bool is_traced = eventually(milliseconds(2'000), traces);
    INFO("process " << pid << ", errno " << errno);
    REQUIRE(is_traced);
  }
  ~Tracer() {
    // Detaching requires a stopped tracee.
    ::ptrace(PTRACE_INTERRUPT, pid_, nullptr, nullptr);
    eventually(milliseconds(1000), [&] { return ::ptrace(PTRACE_DETACH, pid_, nullptr, nullptr) == 0; });
  }
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

 private:
  pid_t pid_;
};

char state_of(pid_t pid) {
  for (const ProcessInfo& info : living_processes()) {
    if (info.pid == pid) return info.state;
  }
  return '?';
}

// Makes the command run as a user without rights if this is root. Returns false if that is impossible.
bool drop_rights(const Sandbox& sandbox, Command& command) {
  constexpr unsigned kNobody = 65534;
  if (::geteuid() != 0) return true;
  for (const std::string& path : {sandbox.temp(), sandbox.start_directory(), sandbox.output()}) {
    if (::chown(path.c_str(), kNobody, kNobody) != 0) return false;
  }
  if (::chmod((sandbox.temp() + "/..").c_str(), 0755) != 0) return false;
  const std::vector<std::string> dropping = {"--reuid", "65534", "--regid", "65534", "--clear-groups", command.program};
  command.arguments.insert(command.arguments.begin(), dropping.begin(), dropping.end());
  command.program = "/usr/bin/setpriv";
  Command probe = command;
  probe.arguments.resize(dropping.size());
  probe.arguments.push_back("--version");
  return exists(command.program) && Running(probe).wait(scaled(milliseconds(10'000))).exit_code == 0;
}

}  // namespace

TEST_CASE("a rank that refuses the probe reports its stacks itself, and the report says so", "[look]") {
  const Sandbox sandbox(distrun_program());
  Command command = sandbox.command({"run", "--output", sandbox.output(), "--timeout", "1s", "--timeout-scale",
                                     std::to_string(time_scale()), "--filter", "Hangs.not_dumpable", plugin("hangs")});
  command.capture = sandbox.output() + "/console";
  skip_case_if(!drop_rights(sandbox, command), "another user cannot run " + distrun_program());
  CHECK(Running(command).wait(scaled(milliseconds(20'000))).exit_code == 1);
  const SnapshotResult snapshot = sandbox.summary().tests.at(0).attempts.at(0).snapshots.at(0);
  CHECK_THAT(snapshot.text, Contains("fixture::hang") && Contains("no answer from the probe"));
  const SeenProcess* rank = snapshot.find(1);
  REQUIRE(rank != nullptr);
  CHECK(rank->answered == std::vector<std::string>{"kernel", "listener"});
  CHECK(rank->not_answered.size() == 1);
}

TEST_CASE("ps shows for each rank its wait and the ranks it waits for", "[look]") {
  HangingRun run;
  const Ended told = run.ask({"ps"});
  CHECK(told.exit_code == 0);
  CHECK_THAT(told.out, Contains("run " + run.id()) && Contains("Hangs.one_sleeps"));
  CHECK_THAT(told.out, Contains("barrier \"meet\" (hangs.cpp:") && Contains("for rank 1"));
  for (int rank = 0; rank < 4; ++rank) CHECK(is_alive(run.pid_of(rank)));
  run.stop();
}

TEST_CASE("ps and stacks show the ranks, the number and the deadline of a wait of the runtime", "[look]") {
  HangingRun run("PeerWaits.for_a_reply", "runtime", "\"all_reduce\" #7 [^\n]* for ranks 0-1\n", 2);
  const std::regex reply("RPC reply \"f\" #81 \\(peer_waits.cpp:[0-9]+\\) for rank 0, 1[56] min [0-9]+ s left");
  CHECK(std::regex_search(run.ask({"ps"}).out, reply));
  const std::string seen = run.ask({"stacks", run.id()}).out;
  CHECK(std::regex_search(seen, std::regex("rank 1 has waited for [0-9.]+ m?s in " + std::string("RPC reply"))));
  CHECK(std::regex_search(seen, reply));
  CHECK_THAT(seen, Contains("ranks 2-3 have waited") && Contains("rank 0 has waited"));
  run.stop();
}

TEST_CASE("stacks shows the position of each rank, and the run continues", "[look]") {
  HangingRun run;
  const Ended all = run.ask({"stacks", run.id()});
  CHECK(all.exit_code == 0);
  CHECK_THAT(all.out, Contains("fixture::hang") && Contains("rank 1 has been running the test body"));
  CHECK_THAT(all.out, Contains("ranks 0, 2-3 have waited"));
  const Ended one = run.ask({"stacks", run.id(), "1"});
  CHECK_THAT(one.out, Contains("fixture::hang") && !Contains("ranks 0, 2-3"));
  CHECK(run.waits());
  CHECK(run.stop().exit_code == 130);
}

TEST_CASE("stacks --pid shows any processes, and names those that do not exist", "[look]") {
  HangingRun run;
  const Ended told = run.ask({"stacks", "--pid", std::to_string(run.pid_of(1)), std::to_string(run.pid_of(2))});
  CHECK(told.exit_code == 0);
  CHECK_THAT(told.out, Contains("fixture::hang") && Contains("process " + std::to_string(run.pid_of(1))));
  CHECK_THAT(told.out, Contains("connections"));
  run.stop();
  const Ended nobody = run.ask({"stacks", "--pid", "999999999"});
  CHECK(nobody.exit_code == 3);
}

TEST_CASE("a quit signal prints the stacks, and the run continues", "[look]") {
  HangingRun run;
  run.running().signal(SIGQUIT);
  pause_for(scaled(milliseconds(500)));
  CHECK(run.waits());
  const Ended ended = run.stop();
  CHECK_THAT(ended.out, Contains("fixture::hang") && Contains("Hangs.one_sleeps after"));
}

TEST_CASE("ranks that are threads show their waits like ranks that are processes", "[look]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"run", "--isolation", "threads", "--output", sandbox.output(), "--timeout", "1s",
                                   "--filter", "Hangs.one_sleeps", plugin("hangs")});
  CHECK(ended.exit_code == 1);
  const Summary summary = sandbox.summary();
  const auto& snapshots = summary.tests.at(0).attempts.at(0).snapshots;
  REQUIRE(snapshots.size() == 1);
  CHECK_THAT(snapshots[0].text, Contains("rank 1 (thread ") && Contains("fixture::hang"));
  // The test's frames stand between the two, if the compiler has left any.
  const std::regex waiting(
      "ranks 0, 2-3 \\(threads [^\n]*waiting in futex\\)\n"
      "([^\n]*\n)?[^\n]*in distrun::Rank::barrier");
  CHECK(std::regex_search(snapshots[0].text, waiting));
  // The listener, which waits for the ranks, and the sanitizer's thread.
  const std::string own = DISTRUN_SANITIZED_THREADS ? "3" : "2";
  CHECK_THAT(snapshots[0].text, Contains(own + " threads of distrun itself"));
}

TEST_CASE("a slow test is shown once with --stacks-after, and continues", "[look]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"run", "--output", sandbox.output(), "--timeout", "1s", "--stacks-after", "300ms",
                                   "--filter", "Hangs.one_sleeps", plugin("hangs")});
  CHECK(ended.exit_code == 1);
  const Summary summary = sandbox.summary();
  const auto& snapshots = summary.tests.at(0).attempts.at(0).snapshots;
  REQUIRE(snapshots.size() == 2);
  CHECK(snapshots[0].why == "slow");
  CHECK(snapshots[1].why == "timeout");
  CHECK_THAT(ended.out, Contains("Hangs.one_sleeps after"));
  CHECK(wrong_with_reports(sandbox) == "");
}

TEST_CASE("no timeout expires while a debugger holds a rank, and then it does", "[look]") {
  HangingRun run("2s");
  {
    const Tracer debugger(run.pid_of(1));
    CHECK_FALSE(run.running().ends_within(scaled(milliseconds(4'000))));
  }
  const Ended ended = run.running().wait(scaled(milliseconds(10'000)));
  CHECK(ended.exit_code == 1);
  CHECK(run.sandbox().summary().tests.at(0).verdict == "timeout");
  run.sandbox().sweep();
}

TEST_CASE("Ctrl-Z stops the ranks and the clocks with the run", "[look]") {
  const auto begun = std::chrono::steady_clock::now();
  HangingRun run("3s");
  const pid_t rank = run.pid_of(2);
  // Sent to the guard and the coordinator, which form one group, as the terminal does.
  ::kill(-run.running().pid(), SIGTSTP);
  CHECK(eventually(scaled(milliseconds(2'000)), [&] { return state_of(rank) == 'T'; }));
  pause_for(scaled(milliseconds(4'000)));
  CHECK(state_of(rank) == 'T');
  ::kill(-run.running().pid(), SIGCONT);
  CHECK(eventually(scaled(milliseconds(1'000)), [&] { return state_of(rank) == 'S'; }));
  const Ended ended = run.running().wait(scaled(milliseconds(10'000)));
  CHECK(ended.exit_code == 1);
  const Summary summary = run.sandbox().summary();
  CHECK(summary.tests.at(0).verdict == "timeout");
  // Durations exclude the time in which the run was stopped.
  const auto active = std::chrono::steady_clock::now() - begun - scaled(milliseconds(4'000));
  CHECK(milliseconds(summary.tests.at(0).duration_ms) < active);
  CHECK(milliseconds(summary.tests.at(0).attempts.at(0).duration_ms) < active);
  run.sandbox().sweep();
}

TEST_CASE("Ctrl-Z stops a suite's host that waits, and the server that it has started", "[look]") {
  const Sandbox sandbox(distrun_program());
  Running run = sandbox.start({"run", "--timeout", "100s", "--filter", "KeepsHost.and_hangs", plugin("suites")});
  const auto server = [&] {
    for (const ProcessInfo& info : sandbox.processes()) {
      if (info.name == "sleep") return info;
    }
    return ProcessInfo{};
  };
  // Four ranks, the host and its server, the coordinator and the guard; a zygote except with the thread sanitizer.
  const std::size_t all = DISTRUN_SANITIZED_THREADS ? 8 : 9;
  const auto all_run = [&] { return server().pid != 0 && sandbox.processes().size() == all; };
  REQUIRE(eventually(scaled(milliseconds(20'000)), all_run));
  const ProcessInfo host_and_server = server();
  const auto both_are = [&](char state) {
    return state_of(host_and_server.pid) == state && state_of(host_and_server.parent) == state;
  };
  ::kill(-run.pid(), SIGTSTP);
  CHECK(eventually(scaled(milliseconds(2'000)), [&] { return both_are('T'); }));
  ::kill(-run.pid(), SIGCONT);
  CHECK(eventually(scaled(milliseconds(2'000)), [&] { return both_are('S'); }));
  run.signal(SIGINT);
  CHECK(run.wait(scaled(milliseconds(10'000))).exit_code == 130);
  CHECK(sandbox.remains() == std::vector<std::string>{});
  sandbox.sweep();
}

TEST_CASE("a debugger is for one test, once", "[look]") {
  const Sandbox sandbox(distrun_program());
  const Ended many = sandbox.run({"--debug", "1", "--output", sandbox.output(), plugin("hangs")});
  CHECK(many.exit_code == 3);
  CHECK_THAT(many.out, Contains("--debug needs exactly one test"));
  CHECK(sandbox.summary().tests.empty());
  const Ended often = sandbox.run({"--debug", "1", "--repeat", "2", plugin("passes")});
  CHECK(often.exit_code == 2);
}

TEST_CASE("a rank starts under gdb, and its test passes when gdb continues it", "[look]") {
  const Sandbox sandbox(distrun_program());
  skip_case_if(!exists("/usr/bin/gdb"), "there is no gdb");
  const Ended ended =
      sandbox.run({"--debug", "1", "--output", sandbox.output(), "--filter", "Passes.trivial", plugin("passes")});
  CHECK(ended.exit_code == 0);
  CHECK_THAT(ended.out, Contains("gdb on rank 1"));
  CHECK(sandbox.remains() == std::vector<std::string>{});
}

TEST_CASE("attach opens gdb on a rank, and the run continues when gdb exits", "[look]") {
  skip_case_if(!exists("/usr/bin/gdb"), "there is no gdb");
  HangingRun run;
  const std::string pid = std::to_string(run.pid_of(1));
  const Ended attach = run.ask({"attach", run.id(), "1"});  // gdb's commands end at once
  INFO(attach.out << attach.err);
  CHECK(attach.exit_code == 0);
  CHECK_THAT(attach.out, Contains("gdb on rank 1 (pid " + pid + ") of Hangs.one_sleeps"));
  CHECK_THAT(attach.out, Contains("(process " + pid + ") detached"));
  CHECK(run.waits());
  CHECK(run.stop().exit_code == 130);
}

TEST_CASE("a request for a run or a rank that does not exist is answered with a sentence", "[look]") {
  const Sandbox sandbox(distrun_program());
  const Ended stacks = sandbox.run({"stacks", "nosuchrun"});
  CHECK(stacks.exit_code == 2);
  CHECK_THAT(stacks.err, Contains("nosuchrun") || Contains("no distrun"));
  HangingRun run;
  const Ended attach = run.ask({"attach", run.id(), "99"});
  CHECK(attach.exit_code == 2);
  CHECK_THAT(attach.err, Contains("has no rank 99"));
  run.stop();
}
