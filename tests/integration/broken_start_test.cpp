// Starts distrun in broken states: it repairs what it inherits, or refuses it with a message.
#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "daemon.hpp"
#include "programs.hpp"
#include "support/skip.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

constexpr int kNotHere = 125;  // exit code of broken_start
constexpr milliseconds kLimit{20'000};

Command broken(const Sandbox& sandbox, const std::string& state, std::vector<std::string> arguments) {
  Command command = sandbox.command(std::move(arguments));
  command.arguments.insert(command.arguments.begin(), {state, command.program});
  command.program = DISTRUN_BROKEN_START;
  return command;
}

Ended start_in(const Sandbox& sandbox, const std::string& state, std::vector<std::string> arguments) {
  return Running(broken(sandbox, state, std::move(arguments))).wait(scaled(kLimit));
}

void expect_success(const Sandbox& sandbox, const Ended& ended) {
  INFO(ended.out << ended.err);
  CHECK_FALSE(ended.out_of_time);
  CHECK(ended.exit_code == 0);
  CHECK(sandbox.remains() == std::vector<std::string>{});
  sandbox.sweep();
}

// States that make no difference to users of distrun.
std::string any_state() {
  return GENERATE(as<std::string>(), "SIGCHLD ignored", "SIGHUP ignored", "all ignored", "all blocked",
                  "all ignored and blocked", "umask 0777", "umask 0", "input closed", "output closed", "errors closed",
                  "streams closed", "few files");
}

}  // namespace

TEST_CASE("a run in a broken environment still works", "[inherited]") {
  const std::string state = any_state();
  const std::string isolation = GENERATE("process", "exec");
  INFO(state << ", isolation " << isolation);
  const Sandbox sandbox(distrun_program());
  const Ended ended =
      start_in(sandbox, state,
               {"run", "--output", sandbox.output(), "--isolation", isolation, "--filter", "Passes.ring", "--filter",
                "Promises.signals_are_reset", "--filter", "Promises.directories", plugin("passes")});
  expect_success(sandbox, ended);
  CHECK(sandbox.summary().tests.size() == 3);
}

TEST_CASE("tests are listed by a distrun in a broken environment", "[inherited]") {
  const std::string state = any_state();
  INFO(state);
  const Sandbox sandbox(distrun_program());
  const Ended ended = start_in(sandbox, state, {"list", plugin("passes")});
  expect_success(sandbox, ended);
  const bool silent = state == "output closed" || state == "streams closed";
  CHECK((ended.out.find("Passes.trivial") != std::string::npos) == !silent);
}

TEST_CASE("programs are run by a distrun in a broken environment, and start with default signals", "[inherited]") {
  const std::string state = any_state();
  INFO(state);
  const Sandbox sandbox(distrun_program());
  const Ended ended =
      start_in(sandbox, state,
               {"exec", "--output", sandbox.output(), "--", "/bin/sh", "-c",
                "grep -q '^SigBlk:.*0000000000000000$' /proc/self/status && grep -q '^SigIgn:.*0000000000000000$' "
                "/proc/self/status"});
  expect_success(sandbox, ended);
}

TEST_CASE("a daemon in a broken environment runs its tests, and exits", "[inherited][daemon]") {
  const std::string state = GENERATE(as<std::string>(), "SIGCHLD ignored", "all ignored and blocked", "streams closed");
  INFO(state);
  const Scratch scratch;
  const Sandbox place(daemon_program());
  const std::string socket = scratch.path() + "/daemon.sock";
  Running daemon(broken(place, state, {"--socket", socket}));
  const auto answers = [&] {
    Command status = place.command({"--socket", socket, "--status"});
    status.capture = scratch.path() + "/status";
    return Running(status).wait(scaled(milliseconds(10'000))).exit_code == 0;
  };
  REQUIRE(eventually(scaled(milliseconds(10'000)), answers));
  const Sandbox sandbox(distrun_program());
  Command command =
      sandbox.command({"run", "--daemon", "--output", sandbox.output(), "--filter", "Passes.ring", plugin("passes")});
  command.environment.push_back("DISTRUN_DAEMON_SOCKET=" + socket);
  expect_success(sandbox, Running(command).wait(scaled(kLimit)));
  daemon.signal(SIGTERM);
  CHECK_FALSE(daemon.wait(scaled(milliseconds(15'000))).out_of_time);
}

TEST_CASE("a run that was started with all signals ignored and blocked can be ended", "[inherited][interrupt]") {
  const Sandbox sandbox(distrun_program());
  Running running(broken(
      sandbox, "all ignored and blocked",
      {"run", "--output", sandbox.output(), "--timeout", "100s", "--filter", "Hangs.one_sleeps", plugin("hangs")}));
  REQUIRE(eventually(scaled(milliseconds(10'000)), [&] { return sandbox.processes().size() >= 6; }));
  running.signal(SIGTERM);
  const Ended ended = running.wait(scaled(milliseconds(3000)));
  INFO(ended.out << ended.err);
  CHECK_FALSE(ended.out_of_time);
  CHECK(ended.exit_code == 130);
  CHECK(sandbox.remains() == std::vector<std::string>{});
  sandbox.sweep();
}

// Signals that nohup and scripts ignore stay ignored: the guard does not forward them.
TEST_CASE("a run that should outlive its terminal does", "[inherited][interrupt]") {
  const int signal = GENERATE(SIGHUP, SIGINT);
  const Sandbox sandbox(distrun_program());
  Running running(broken(
      sandbox, "all ignored",
      {"run", "--output", sandbox.output(), "--timeout", "100s", "--filter", "Hangs.one_sleeps", plugin("hangs")}));
  REQUIRE(eventually(scaled(milliseconds(10'000)), [&] { return sandbox.processes().size() >= 6; }));
  for (const ProcessInfo& process : sandbox.processes()) {
    if (process.name == "distrun") kill(process.pid, signal);
  }
  CHECK_FALSE(running.ends_within(scaled(milliseconds(500))));
  running.signal(SIGTERM);
  CHECK(running.wait(scaled(milliseconds(3000))).exit_code == 130);
  CHECK(sandbox.remains() == std::vector<std::string>{});
  sandbox.sweep();
}

TEST_CASE("children that a shell had before it became distrun are left alone", "[inherited]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended =
      start_in(sandbox, "a child", {"run", "--output", sandbox.output(), "--filter", "Passes.ring", plugin("passes")});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.empty());
  const std::vector<ProcessInfo> left = sandbox.processes();
  CHECK(std::count_if(left.begin(), left.end(), [](const ProcessInfo& info) { return info.name == "sleep"; }) == 1);
  sandbox.sweep();
}

TEST_CASE("the files of a run are accessible to its user only, with any file mask", "[inherited]") {
  const std::string state = GENERATE(as<std::string>(), "umask 0777", "umask 0");
  const Sandbox sandbox(distrun_program());
  Running running(broken(
      sandbox, state,
      {"run", "--output", sandbox.output(), "--timeout", "100s", "--filter", "Hangs.one_sleeps", plugin("hangs")}));
  REQUIRE(eventually(scaled(milliseconds(10'000)), [&] { return sandbox.processes().size() >= 6; }));
  INFO(state);
  int seen = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(sandbox.temp())) {
    struct stat status {};
    if (lstat(entry.path().c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) continue;
    ++seen;
    INFO(entry.path());
    CHECK((status.st_mode & 0777) == 0700);
  }
  CHECK(seen > 0);
  running.signal(SIGTERM);
  CHECK_FALSE(running.wait(scaled(milliseconds(3000))).out_of_time);
  sandbox.sweep();
}

TEST_CASE("a start directory that was removed is reported in a sentence", "[inherited]") {
  const std::string command = GENERATE(as<std::string>(), "run", "list");
  const Sandbox sandbox(distrun_program());
  const Ended ended = start_in(sandbox, "directory gone", {command, plugin("passes")});
  CHECK(ended.exit_code == 3);
  CHECK_THAT(ended.err, Contains("cannot find the current directory: No such file or directory"));
  CHECK(sandbox.remains() == std::vector<std::string>{});
}

TEST_CASE("a /dev without null is reported in a sentence", "[inherited]") {
  const std::string state = GENERATE(as<std::string>(), "no /dev/null", "no /dev/null and streams closed");
  const Sandbox sandbox(distrun_program());
  const Ended ended = start_in(sandbox, state, {"run", "--output", sandbox.output(), plugin("passes")});
  skip_case_if(ended.exit_code == kNotHere, ended.out);
  CHECK_FALSE(ended.out_of_time);
  CHECK(ended.exit_code == 3);
  CHECK_THAT(read_file(sandbox.output() + "/summary.json"), Contains("cannot open /dev/null"));
  CHECK(sandbox.remains() == std::vector<std::string>{});
}
