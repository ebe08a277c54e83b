// Kills distrun itself while a suite's host is running: nothing is left behind. kill_points_test.cpp does so at any
// time.
#include <catch2/catch.hpp>

#include <signal.h>

#include <algorithm>
#include <string>
#include <vector>

#include "programs.hpp"
#include "support/victims.hpp"

namespace {

using namespace distrun::testing;

constexpr milliseconds kGoneWithin{1000};

}  // namespace

TEST_CASE("a suite's host and its server end with a distrun that is killed", "[kill][alone]") {
  const Victim victim = GENERATE(Victim::Guard, Victim::Coordinator);
  const std::string isolation = GENERATE(std::string("process"), std::string("exec"));
  const Sandbox sandbox(distrun_program());
  Running running = sandbox.start(
      {"run", "--output", sandbox.output(), "--isolation", isolation, "--filter", "KeepsHost", plugin("suites")});
  const std::string events = sandbox.output() + "/events.ndjson";
  const auto runs = [&] {
    const std::string told = exists(events) ? read_file(events) : "";
    return told.find("\"phase\":\"body\"") != std::string::npos;
  };
  REQUIRE(eventually(scaled(milliseconds(20'000)), runs));
  const std::vector<std::string> alive = sandbox.remains();
  CHECK(std::count_if(alive.begin(), alive.end(),
                      [](const std::string& what) { return what.find("sleep") != std::string::npos; }) == 1);
  const std::vector<pid_t> victims = victims_of(running, nullptr, victim);
  REQUIRE(victims.size() == 1);
  kill(victims.front(), SIGKILL);
  CHECK(eventually(scaled(kGoneWithin), [&] { return sandbox.remains().empty(); }));
  for (const std::string& what : sandbox.remains()) UNSCOPED_INFO(what);
  CHECK(sandbox.remains().empty());
  sandbox.sweep();
  const Ended ended = running.wait(scaled(kGoneWithin));
  if (victim == Victim::Coordinator) {
    CHECK(ended.exit_code == 3);
    CHECK_THAT(ended.err, Catch::Contains("the coordinator was killed by signal 9 (SIGKILL) while KeepsHost."));
  }
}
