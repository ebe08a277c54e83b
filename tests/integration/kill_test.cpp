// distrun itself is killed, at any time, and still leaves nothing behind: its first process, the guard,
// and that one's child, the coordinator, each answer for the other.
#include <catch2/catch.hpp>

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "programs.hpp"

namespace {

using namespace distrun::testing;

constexpr milliseconds kGoneWithin{1000};
constexpr int kKillAfterMsMax = 500;

int number_from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

enum class Victim { Guard, Coordinator };

struct Round {
  std::string plugin;
  std::string isolation;
  Victim victim = Victim::Guard;
  int after_ms = 0;
};

Round choose(std::mt19937& random) {
  const std::vector<std::string> plugins = {"hangs", "leaves", "crashes", "passes", "floods", "suites"};
  const auto below = [&](std::size_t bound) { return std::size_t{random()} % bound; };
  Round round;
  round.plugin = plugins[below(plugins.size())];
  round.isolation = std::vector<std::string>{"process", "exec", "pool", "threads"}[below(4)];
  round.victim = below(2) == 0 ? Victim::Guard : Victim::Coordinator;
  round.after_ms = static_cast<int>(below(kKillAfterMsMax));
  return round;
}

// "coordinator"; "guard" also if there is no coordinator yet; "nobody" if the run was over.
std::string strike(const Running& running, Victim victim) {
  if (!is_alive(running.pid())) return "nobody";
  const std::vector<pid_t> children = children_of(running.pid());
  if (victim == Victim::Coordinator && !children.empty()) {
    kill(children.front(), SIGKILL);
    return "coordinator";
  }
  running.signal(SIGKILL);
  return "guard";
}

struct Result {
  std::string line;     // what was done
  std::string remains;  // what was left; empty: nothing
  milliseconds gone_after{};
};

Result play(const Round& round) {
  const Sandbox sandbox(distrun_program());
  Running running = sandbox.start({"run", "--output", sandbox.output(), "--isolation", round.isolation,
                                   "--timeout", "100s", plugin(round.plugin)});
  pause_for(milliseconds(round.after_ms));
  const std::string run_id = sandbox.run_id_in_use();
  const std::string victim = strike(running, round.victim);
  const auto struck = std::chrono::steady_clock::now();
  eventually(scaled(kGoneWithin), [&] { return sandbox.remains().empty(); });
  Result result;
  result.gone_after = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - struck);
  result.line = round.plugin + ", " + round.isolation + ", " + victim + " killed after " +
                std::to_string(round.after_ms) + " ms, run " + (run_id.empty() ? "?" : run_id);
  for (const std::string& what : sandbox.remains()) result.remains += "  " + what + "\n";
  sandbox.sweep();
  running.wait(milliseconds(0));
  return result;
}

}  // namespace

TEST_CASE("a suite's host and its server end with a distrun that is killed", "[kill][alone]") {
  const Victim victim = GENERATE(Victim::Guard, Victim::Coordinator);
  const std::string isolation = GENERATE(std::string("process"), std::string("exec"));
  const Sandbox sandbox(distrun_program());
  Running running = sandbox.start({"run", "--output", sandbox.output(), "--isolation", isolation, "--filter",
                                   "KeepsHost", plugin("suites")});
  const std::string events = sandbox.output() + "/events.ndjson";
  const auto runs = [&] {
    const std::string told = exists(events) ? read_file(events) : "";
    return told.find("\"phase\":\"body\"") != std::string::npos;
  };
  REQUIRE(eventually(scaled(milliseconds(20'000)), runs));
  const std::vector<std::string> alive = sandbox.remains();
  CHECK(std::count_if(alive.begin(), alive.end(), [](const std::string& what) {
          return what.find("sleep") != std::string::npos;
        }) == 1);
  strike(running, victim);
  CHECK(eventually(scaled(kGoneWithin), [&] { return sandbox.remains().empty(); }));
  for (const std::string& what : sandbox.remains()) UNSCOPED_INFO(what);
  CHECK(sandbox.remains().empty());
  sandbox.sweep();
  running.wait(milliseconds(0));
}

TEST_CASE("nothing is left a second after distrun was killed", "[kill][alone]") {
  const int rounds = number_from_environment("DISTRUN_KILL_ROUNDS", 40);
  const int seed = number_from_environment("DISTRUN_KILL_SEED", static_cast<int>(std::random_device()() >> 1));
  std::cout << rounds << " rounds; DISTRUN_KILL_SEED=" << seed << " repeats their choice\n";
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
  milliseconds slowest{};
  for (int i = 0; i < rounds; ++i) {
    const Result result = play(choose(random));
    std::cout << "round " << i << ": " << result.line << ", gone after " << result.gone_after.count()
              << " ms\n" << result.remains;
    slowest = std::max(slowest, result.gone_after);
    INFO("round " << i << ": " << result.line << "\n" << result.remains);
    CHECK(result.remains.empty());
  }
  std::cout << "slowest: " << slowest.count() << " ms" << std::endl;
}
