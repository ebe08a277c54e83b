// distrun as the session leader on a real terminal: typed keys, and a hang-up as when the connection of `ssh -t`
// breaks.
#include <catch2/catch.hpp>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "programs.hpp"
#include "support/terminal_session.hpp"

namespace {

using namespace distrun::testing;

constexpr milliseconds kHungUpEndsWithin{3000};

std::vector<std::string> hanging(const Sandbox& sandbox) {
  return {"run", "--output", sandbox.output(), "--timeout", "100s", "--filter", "Hangs.one_sleeps", plugin("hangs")};
}

void wait_until_it_hangs(const Sandbox& sandbox) {
  const auto in_body = [&] {
    const std::string path = sandbox.output() + "/events.ndjson";
    return exists(path) && read_file(path).find("\"phase\":\"body\"") != std::string::npos;
  };
  REQUIRE(eventually(scaled(milliseconds(20'000)), in_body));
}

// Appends the terminal's output to `shown`; returns whether the text appears in time.
bool shows(TerminalSession& session, std::string& shown, const std::string& text) {
  return eventually(scaled(milliseconds(20'000)), [&] {
    shown += session.read_some();
    return shown.find(text) != std::string::npos;
  });
}

// Returns the CPU time of all distrun processes in the sandbox: guard and coordinator.
milliseconds cpu_time(const Sandbox& sandbox) {
  long ticks = 0;
  for (const ProcessInfo& info : sandbox.processes()) {
    if (info.name != "distrun") continue;
    const std::string stat = read_file("/proc/" + std::to_string(info.pid) + "/stat");
    std::istringstream rest(stat.substr(stat.rfind(')') + 1));
    std::string word;
    for (int skipped = 0; skipped < 11; ++skipped) rest >> word;  // up to the page faults
    long user = 0;
    long system = 0;
    rest >> user >> system;
    ticks += user + system;
  }
  return milliseconds(ticks * 1000 / sysconf(_SC_CLK_TCK));
}

}  // namespace

TEST_CASE("a run ends with the terminal that it leads", "[interrupt][terminal]") {
  const Sandbox sandbox(distrun_program());
  TerminalSession session(sandbox.command(hanging(sandbox)));
  wait_until_it_hangs(sandbox);
  session.hang_up();
  const Ended ended = session.wait(scaled(kHungUpEndsWithin));
  CHECK_FALSE(ended.out_of_time);
  CHECK(ended.exit_code == kInterrupted);
  CHECK(sandbox.remains() == std::vector<std::string>{});
  CHECK(sandbox.summary().interrupted);
  sandbox.sweep();
}

TEST_CASE("the key s shows the state of every rank", "[interrupt][terminal]") {
  const Sandbox sandbox(distrun_program());
  TerminalSession session(sandbox.command(hanging(sandbox)));
  std::string shown;
  REQUIRE(shows(session, shown, "in barrier"));  // so all are in their final state
  session.type("s");
  const bool has_stack = shows(session, shown, "clock_nanosleep");
  INFO(shown);
  CHECK(has_stack);
  session.type("\x03");
  CHECK(session.wait(scaled(kHungUpEndsWithin)).exit_code == kInterrupted);
  sandbox.sweep();
}

TEST_CASE("pressing Ctrl-C twice ends a run with resisting ranks, with its reports", "[interrupt][terminal]") {
  const Sandbox sandbox(distrun_program());
  Command command = sandbox.command(hanging(sandbox));
  std::replace(command.arguments.begin(), command.arguments.end(), std::string("Hangs.one_sleeps"),
               std::string("Hangs.termination_ignored"));
  TerminalSession session(command);
  wait_until_it_hangs(sandbox);
  session.type("\x03");
  session.type("\x03");
  const Ended ended = session.wait(scaled(kHungUpEndsWithin));
  CHECK_FALSE(ended.out_of_time);
  CHECK(ended.exit_code == kInterrupted);
  CHECK(sandbox.remains() == std::vector<std::string>{});
  CHECK(sandbox.summary().interrupted);
  sandbox.sweep();
}

TEST_CASE("programs end with the terminal that their run leads", "[interrupt][terminal]") {
  const Sandbox sandbox(distrun_program());
  TerminalSession session(
      sandbox.command({"exec", "--output", sandbox.output(), "--stdin", "0", "--", "/bin/sh", "-c", "cat; sleep 50"}));
  REQUIRE(eventually(scaled(milliseconds(20'000)), [&] { return sandbox.processes().size() >= 6; }));
  session.hang_up();
  const Ended ended = session.wait(scaled(kHungUpEndsWithin));
  CHECK_FALSE(ended.out_of_time);
  CHECK(ended.exit_code == kInterrupted);
  CHECK(sandbox.remains() == std::vector<std::string>{});
  sandbox.sweep();
}

TEST_CASE("a run that should outlive its terminal waits without using the CPU", "[interrupt][terminal]") {
  const Sandbox sandbox(distrun_program());
  Command command = sandbox.command(hanging(sandbox));
  command.arguments.insert(command.arguments.begin(), {"SIGHUP ignored", command.program});
  command.program = DISTRUN_BROKEN_START;
  TerminalSession session(command);
  wait_until_it_hangs(sandbox);
  session.hang_up();
  const milliseconds before = cpu_time(sandbox);
  pause_for(milliseconds(1500));
  REQUIRE(is_alive(session.pid()));
  CHECK((cpu_time(sandbox) - before).count() < 300);
  kill(session.pid(), SIGTERM);
  CHECK(session.wait(scaled(kHungUpEndsWithin)).exit_code == kInterrupted);
  CHECK(sandbox.remains() == std::vector<std::string>{});
  sandbox.sweep();
}
