// Kills any process of a run, at any time, in every family of fixtures: the run ends, and nothing is left behind. A
// kill counts only if the process was alive and the run still in progress.
#include <catch2/catch.hpp>

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "compare.hpp"
#include "daemon.hpp"
#include "support/victims.hpp"

namespace {

using namespace distrun::testing;

constexpr int kSeed = 20;
constexpr int kKillRounds = DISTRUN_SANITIZED ? 60 : 200;
constexpr int kAtATime = 4;  // a round mostly waits
constexpr int kStrikesPercentMin = 80;
constexpr int kStrikesOfEachMin = 5;  // per hundred rounds
constexpr int kLaterMsMax = 400;
constexpr int kLaterLoadingMsMax = 5;  // for a plugin that goes wrong while it is loaded, which does not take long
constexpr milliseconds kVictimComesWithin{2000};
constexpr milliseconds kGoesOn{150};  // time for a run that has lost a rank, a zygote, a lister or a probe
constexpr milliseconds kPointEndsWithin{10'000};

int number_from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

struct Round {
  std::string family;
  std::string isolation;
  Victim victim = Victim::Guard;
  int after_ms = 0;    // from the run's start
  unsigned which = 0;  // selects among several
};

std::vector<std::string> families() {
  std::vector<std::string> found;
  for (const std::string& name : names_in(DISTRUN_PLUGIN_DIR)) {
    if (name.starts_with("fixture_") && name.ends_with(".so")) found.push_back(name.substr(8, name.size() - 11));
  }
  return found;
}

bool comes_to_ranks(const std::string& family) { return !family.starts_with("load_"); }

// All random choices of the rounds. Families and victims take turns, so that each occurs.
class Choice {
 public:
  explicit Choice(int seed) : random_(static_cast<std::mt19937::result_type>(seed)) {}

  Round next() {
    Round round;
    round.family = next_family();
    round.victim = next_victim(round.family);
    // A probe exists only while a test hangs or crashes.
    if (round.victim == Victim::Probe) round.family = one_of({"hangs", "crashes", "crash_sites"});
    round.isolation = one_of({"process", "exec", "pool", "threads"});
    if (round.victim == Victim::Zygote && round.isolation == "exec") round.isolation = "process";
    round.after_ms = static_cast<int>(below(comes_to_ranks(round.family) ? kLaterMsMax : kLaterLoadingMsMax));
    round.which = static_cast<unsigned>(below(64));
    return round;
  }

 private:
  std::size_t below(std::size_t bound) { return std::size_t{random_()} % bound; }
  std::string one_of(const std::vector<std::string>& all) { return all[below(all.size())]; }

  std::string next_family() {
    if (families_.empty()) families_ = families();
    const auto drawn = families_.begin() + static_cast<std::ptrdiff_t>(below(families_.size()));
    std::string family = *drawn;
    families_.erase(drawn);
    return family;
  }

  Victim next_victim(const std::string& family) {
    if (!comes_to_ranks(family)) return below(2) == 0 ? Victim::Coordinator : Victim::Guard;
    const std::vector<Victim> all = {Victim::Guard, Victim::Coordinator, Victim::Lister, Victim::Zygote,
                                     Victim::Rank,  Victim::Probe,       Victim::Daemon};
    const Victim victim = all[turn_++ % all.size()];
    // No zygote forks with the thread sanitizer.
    return DISTRUN_SANITIZED_THREADS && victim == Victim::Zygote ? Victim::Rank : victim;
  }

  std::mt19937 random_;
  std::vector<std::string> families_;  // without those that had their turn
  std::size_t turn_ = 0;
};

struct Result {
  Round round;
  bool struck = false;
  Texts wrong;

  std::string line() const {
    std::string text = round.family + ", " + round.isolation + ", " + name_of(round.victim) + " after " +
                       std::to_string(round.after_ms) + " ms: " + (struck ? "struck" : "no process was there");
    for (const std::string& each : wrong) text += "\n  " + each;
    return text;
  }
};

// One round: a run in a separate sandbox.
class Play {
 public:
  explicit Play(Round round) : sandbox_(distrun_program()) {
    result_.round = std::move(round);
    if (result_.round.victim == Victim::Daemon) daemon_.emplace(daemon_program());
  }

  Result play() {
    Running running(daemon_ ? daemon_->command(sandbox_, arguments()) : sandbox_.command(arguments()));
    // Listers and probes live for a moment only, so no further delay is needed.
    const Victim victim = result_.round.victim;
    if (victim != Victim::Lister && victim != Victim::Probe) running.ends_within(milliseconds(result_.round.after_ms));
    strike(running);
    if (daemon_ && result_.struck) daemon_->kill();  // already dead; waits for its end
    const bool is_over = victim == Victim::Guard || victim == Victim::Coordinator || victim == Victim::Daemon;
    if (!(is_over && result_.struck) && !running.ends_within(scaled(kGoesOn))) running.signal(SIGINT);
    judge(running.wait(scaled(kPointEndsWithin)));
    sandbox_.sweep();
    return std::move(result_);
  }

 private:
  Texts arguments() const {
    Texts all = {"run",
                 "--output",
                 sandbox_.output(),
                 "--isolation",
                 result_.round.isolation,
                 "--repeat",
                 "20",
                 "--timeout",
                 daemon_ || result_.round.victim != Victim::Probe ? "100s" : "300ms",
                 "--stacks-after",
                 "100ms",
                 "--gpu-driver",
                 "virtual",
                 "--gpus",
                 "2"};
    if (daemon_) all.push_back("--daemon");
    all.push_back(plugin(result_.round.family));
    return all;
  }

  void strike(const Running& running) {
    std::vector<pid_t> found;
    eventually(scaled(kVictimComesWithin), [&] {
      found = victims_of(running, daemon_ ? &*daemon_ : nullptr, result_.round.victim);
      return !found.empty() || running.ends_within(milliseconds(0));
    });
    if (found.empty() || running.ends_within(milliseconds(0))) return;
    const pid_t victim = found[result_.round.which % found.size()];
    result_.struck = is_alive(victim) && kill(victim, SIGKILL) == 0;
  }

  void judge(const Ended& ended) {
    if (ended.out_of_time) result_.wrong.push_back("it did not end");
    if (result_.struck) check_end(ended);
    eventually(scaled(milliseconds(daemon_ ? 3000 : 1000)), [&] { return sandbox_.remains().empty(); });
    for (std::string& what : sandbox_.remains()) result_.wrong.push_back(std::move(what));
    if (!exists(sandbox_.output() + "/summary.json")) return;
    try {
      for (std::string& each : contradictions(sandbox_.summary())) result_.wrong.push_back(std::move(each));
    } catch (const std::exception& error) {
      result_.wrong.push_back(error.what());
    }
  }

  // Checks the message to the user. A run that was over by then has its own exit code.
  void check_end(const Ended& ended) {
    const std::string told =
        "exit code " + std::to_string(ended.exit_code) + ", signal " + std::to_string(ended.signal) + ": " + ended.err;
    const bool is_any = ended.exit_code == 0 || ended.exit_code == 1 || ended.exit_code == 4;
    switch (result_.round.victim) {
      case Victim::Guard:
        if (ended.signal != SIGKILL) result_.wrong.push_back(told);
        return;
      case Victim::Coordinator:
      case Victim::Daemon:
        if (ended.exit_code != 3 && !is_any) result_.wrong.push_back(told);
        return;
      default:
        if (ended.exit_code != 3 && ended.exit_code != 130 && !is_any) result_.wrong.push_back(told);
    }
  }

  Sandbox sandbox_;
  std::optional<Daemon> daemon_;
  Result result_;
};

std::vector<Result> play_all(const std::vector<Round>& rounds) {
  std::vector<Result> results(rounds.size());
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> players;
  for (int i = 0; i < kAtATime; ++i) {
    players.emplace_back([&] {
      for (std::size_t n = next++; n < rounds.size(); n = next++) {
        try {
          results[n] = Play(rounds[n]).play();
        } catch (const std::exception& error) {
          results[n] = {rounds[n], false, {error.what()}};
        }
      }
    });
  }
  for (std::thread& player : players) player.join();
  return results;
}

}  // namespace

TEST_CASE("nothing is left when any process of any run is killed at any time", "[kill][alone]") {
  const int count = number_from_environment("DISTRUN_KILL_ROUNDS", kKillRounds);
  const int seed = number_from_environment("DISTRUN_KILL_SEED", kSeed);
  std::cout << "DISTRUN_KILL_ROUNDS=" << count << " DISTRUN_KILL_SEED=" << seed << " repeat this" << std::endl;
  Choice choice(seed);
  std::vector<Round> rounds;
  for (int i = 0; i < count; ++i) rounds.push_back(choice.next());
  std::map<Victim, int> strikes;
  std::set<std::string> struck_families;
  int all = 0;
  for (const Result& result : play_all(rounds)) {
    std::cout << result.line() << "\n";
    INFO(result.line());
    CHECK(result.wrong.empty());
    if (!result.struck) continue;
    ++strikes[result.round.victim];
    ++all;
    struck_families.insert(result.round.family);
  }
  std::cout << all << " of " << count << " kills struck, in " << struck_families.size() << " families:";
  for (const auto& [victim, struck] : strikes) std::cout << " " << name_of(victim) << " " << struck;
  std::cout << std::endl;
  CHECK(all * 100 >= count * kStrikesPercentMin);
  CHECK(strikes.size() == (DISTRUN_SANITIZED_THREADS ? 6 : 7));
  for (const auto& [victim, struck] : strikes) CHECK(struck * 100 >= count * kStrikesOfEachMin);
  CHECK(struck_families.size() * 10 >= families().size() * 9);
}
