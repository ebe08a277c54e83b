// Kills the daemon in the middle of runs: nothing is left behind, and the next daemon can start at once.
#include <catch2/catch.hpp>

#include <signal.h>

#include <cstdlib>
#include <iostream>
#include <list>
#include <random>
#include <string>
#include <vector>

#include "daemon.hpp"

namespace {

using namespace distrun::testing;
using Texts = std::vector<std::string>;

constexpr int kRounds = 20;
constexpr milliseconds kDaemonGoneWithin{3000};
constexpr milliseconds kDaemonLong{30'000};

struct Client {
  Client(const Daemon& daemon, const std::string& fixture)
      : sandbox(distrun_program()),
        running(daemon.start(
            sandbox, {"run", "--daemon", "--output", sandbox.output(), "--timeout", "100s", plugin(fixture)})) {}

  // Returns whether the client arrived only after the kill: the next daemon serves it as usual, so its run is stopped
  // here.
  bool was_late(const Daemon& next) {
    eventually(scaled(kDaemonLong),
               [&] { return running.ends_within(milliseconds(0)) || next.shows(sandbox.output()); });
    if (!next.shows(sandbox.output())) return false;
    running.signal(SIGINT);
    return true;
  }

  // Returns what went wrong for a client after the daemon was killed or the run was over; empty: nothing.
  std::string wrong(const Daemon& next) {
    const bool late = was_late(next);
    const Ended ended = running.wait(scaled(kDaemonLong));
    if (ended.out_of_time) return "the client did not end";
    eventually(scaled(kDaemonGoneWithin), [&] { return sandbox.remains().empty(); });
    std::string left;
    for (const std::string& what : sandbox.remains()) left += what + "\n";
    sandbox.sweep();
    const auto says = [&](const char* text) { return ended.err.find(text) != std::string::npos; };
    // The second text is right for a client that arrived after the daemon's death.
    const bool told = ended.exit_code == 3 && (says("the daemon has died") || says("no daemon listens"));
    const bool over = ended.exit_code == 0 || ended.exit_code == 1;
    if (!told && !over && !(late && ended.exit_code == 130)) {
      left += std::string(late ? "late, " : "") + "exit code " + std::to_string(ended.exit_code) + ": " + ended.err +
              "stdout: " + ended.out;
    }
    return left;
  }

  Sandbox sandbox;
  Running running;
};

}  // namespace

TEST_CASE("nothing is left when a daemon was killed, and the next one serves at once", "[daemon][kill][alone]") {
  const char* given = std::getenv("DISTRUN_KILL_SEED");
  const unsigned seed = given == nullptr ? std::random_device()() : static_cast<unsigned>(std::atol(given));
  std::cout << "DISTRUN_KILL_SEED=" << seed << " repeats the choice" << std::endl;
  std::mt19937 random(seed);
  Daemon daemon(daemon_program(), {"--parallel", "2"});
  for (int round = 0; round < kRounds; ++round) {
    const Texts fixtures = {"hangs", "leaves", "crashes", "passes", "floods"};
    std::list<Client> clients;
    for (int i = 0; i < 3; ++i) clients.emplace_back(daemon, fixtures[random() % fixtures.size()]);
    pause_for(milliseconds(random() % 500));
    daemon.kill();
    daemon.start();
    for (Client& client : clients) {
      INFO("round " << round << ", " << client.sandbox.start_directory());
      CHECK(client.wrong(daemon) == "");
    }
    const Sandbox sandbox(distrun_program());
    const Ended served = daemon.start(sandbox, {"run", "--daemon", "--filter", "Passes.trivial", plugin("passes")})
                             .wait(scaled(kDaemonLong));
    CHECK(served.exit_code == 0);
  }
  const Ended ended = daemon.stop();
  CHECK(ended.exit_code == 0);
  CHECK_FALSE(exists(daemon.socket()));
}
