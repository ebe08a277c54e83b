// Zygotes and listers that do not answer: distrun waits for them once, and reports where they are stuck.
#include <catch2/catch.hpp>

#include <signal.h>

#include <string>
#include <vector>

#include "programs.hpp"
#include "support/skip.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

constexpr const char* kNoZygote = "with the thread sanitizer no zygote forks";

// Loading has 9 s, spawning 3 s; a zygote gets half of that.
const std::vector<std::string> kScale{"--timeout-scale", "0.3"};

std::vector<std::string> zygote_run_of(const Sandbox& sandbox, std::vector<std::string> rest) {
  std::vector<std::string> arguments{"run", "--output", sandbox.output()};
  arguments.insert(arguments.end(), kScale.begin(), kScale.end());
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  return arguments;
}

// Ranks have the same command line, but were started later.
pid_t zygote_in(const Sandbox& sandbox) {
  pid_t first = 0;
  for (const ProcessInfo& info : sandbox.processes()) {
    const std::string command = read_file("/proc/" + std::to_string(info.pid) + "/cmdline");
    if (command.find("--zygote") != std::string::npos && (first == 0 || info.pid < first)) first = info.pid;
  }
  return first;
}

}  // namespace

TEST_CASE("a zygote that is stopped is replaced, and reported with its stack", "[zygote]") {
  skip_case_if(DISTRUN_SANITIZED_THREADS != 0, kNoZygote);
  const Sandbox sandbox(distrun_program());
  Running running = sandbox.start(
      zygote_run_of(sandbox, {"--timeout", "3s", "--repeat", "3", "--filter", "Hangs.one_sleeps", plugin("hangs")}));
  REQUIRE(eventually(scaled(milliseconds(20'000)), [&] {
    const std::string path = sandbox.output() + "/events.ndjson";
    return exists(path) && read_file(path).find("\"phase\":\"body\"") != std::string::npos;
  }));
  const pid_t zygote = zygote_in(sandbox);
  REQUIRE(zygote > 0);  // 0 would signal this test's whole process group
  kill(zygote, SIGSTOP);
  const Ended ended = running.wait(scaled(milliseconds(40'000)));
  INFO(ended.out << ended.err);
  CHECK_FALSE(ended.out_of_time);
  const TestResult test = sandbox.summary().tests.at(0);
  REQUIRE(test.attempts.size() == 3);
  CHECK(test.attempts[0].verdict == "timeout");
  CHECK(test.attempts[1].verdict == "infra-error");
  CHECK_THAT(test.attempts[1].message, Contains("did not fork ranks within"));
  CHECK_THAT(read_file(sandbox.output() + "/summary.json"), Contains("distrun-rank\\\" (main thread, stopped"));
  CHECK(test.attempts[2].verdict == "timeout");
  CHECK(sandbox.remains() == std::vector<std::string>{});
  sandbox.sweep();
}

TEST_CASE("a zygote that hangs as it forks is waited for twice, and then ranks start without it", "[zygote]") {
  skip_case_if(DISTRUN_SANITIZED_THREADS != 0, kNoZygote);
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.start(zygote_run_of(sandbox, {"--repeat", "4", plugin("load_hang_fork")}))
                          .wait(scaled(milliseconds(40'000)));
  INFO(ended.out << ended.err);
  CHECK_FALSE(ended.out_of_time);
  CHECK(ended.exit_code == 3);
  const TestResult test = sandbox.summary().tests.at(0);
  REQUIRE(test.attempts.size() == 4);
  for (const std::size_t hung : {0U, 1U}) {
    const auto& attempt = test.attempts[hung];
    CHECK(attempt.verdict == "infra-error");
    CHECK_THAT(attempt.message, Contains("did not fork ranks within"));
  }
  CHECK_THAT(read_file(sandbox.output() + "/summary.json"), Contains("hang_in_fork  load_hang_fork.cpp:"));
  for (const std::size_t passed : {2U, 3U}) CHECK(test.attempts[passed].verdict == "pass");
  CHECK(sandbox.remains() == std::vector<std::string>{});
  sandbox.sweep();
}

TEST_CASE("ranks of a plugin that opens a GPU while it is loaded are started by exec, with a note", "[zygote]") {
  skip_case_if(DISTRUN_SANITIZED_THREADS != 0, kNoZygote);
  const Sandbox sandbox(distrun_program());
  Command command = sandbox.command({"run", "--output", sandbox.output(), plugin("load_gpu")});
  const std::string dev = sandbox.temp() + "/dev";
  // A private /dev with such a file.
  const std::string script = "mkdir " + dev + " && mount -t tmpfs none " + dev + " && mkdir " + dev +
                             "/shm && mount --bind /dev/shm " + dev + "/shm && ln -s /proc/self/fd " + dev +
                             "/fd && for each in null zero full random urandom tty; do touch " + dev +
                             "/$each && mount --bind /dev/$each " + dev + "/$each; done && touch " + dev +
                             "/nvidia-fixture && " + "mount --rbind " + dev + " /dev && exec \"$0\" \"$@\"";
  const std::vector<std::string> before{"--user", "--map-root-user", "--mount", "/bin/sh", "-c",
                                        script,   command.program};
  command.program = "/usr/bin/unshare";
  command.arguments.insert(command.arguments.begin(), before.begin(), before.end());
  const Ended ended = Running(command).wait(scaled(milliseconds(20'000)));
  INFO(ended.out << ended.err);
  skip_case_if(ended.err.find("unshare:") != std::string::npos || ended.err.find("mount:") != std::string::npos,
               "this machine allows no namespaces");
  CHECK(ended.exit_code == 0);
  const TestResult test = sandbox.summary().tests.at(0);
  CHECK(test.verdict == "pass");
  CHECK(test.isolation == "exec");
  CHECK_THAT(test.isolation_reason, Catch::Contains("the plugin opened a GPU while loading"));
  sandbox.sweep();
}
