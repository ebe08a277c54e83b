// All orders of the steps of a graceful shutdown (session/detail/termination.hpp) against calls that are still made,
// answered, given up and lost: it ends only when nothing runs and nothing is in flight, and then it does end.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "support/interleavings.hpp"

namespace distrun::rpc {
namespace {

using distrun::testing::ModelStep;
using distrun::testing::Walked;

constexpr std::size_t kModelWorkers = 3;
using OfWorkers = std::array<std::uint8_t, kModelWorkers>;

// The work and the counts of one worker. Each message in flight is counted at its receiver.
struct ModelWorker {
  std::uint8_t callbacks = 0;  // running
  std::uint8_t blocked = 0;    // callbacks that wait
  OfWorkers serves{};          // calls running here, by their callers
  OfWorkers read{};            // calls that were read and do not run yet
  OfWorkers calls{};           // in flight to here, by their senders
  std::uint8_t answers = 0;    // in flight to here
  std::uint8_t answered = 0;   // calls that are no longer pending, with callbacks that do not run yet
  std::uint8_t waiting = 0;
  std::uint8_t given_up = 0;  // calls with answers that are dropped on arrival
  std::uint8_t releases = 0;  // in flight to here: messages that are repeated until answered
  std::uint8_t sent = 0;
  std::uint8_t received = 0;
  std::uint8_t is_asked = 0;   // and has not answered the leader's probe
  std::uint8_t told_sent = 0;  // in its last answer
  std::uint8_t told_received = 0;
};

struct Shutdown {
  std::array<ModelWorker, kModelWorkers> workers{};
  std::uint8_t calls_left = 0;  // that may still be made, and so on
  std::uint8_t blocks_left = 0;
  std::uint8_t give_ups_left = 0;
  std::uint8_t releases_left = 0;
  std::uint8_t has_before = 0;  // the leader's numbers of the previous round
  std::uint8_t sent_before = 0;
  std::uint8_t received_before = 0;
  std::uint8_t is_done = 0;
};
static_assert(sizeof(Shutdown) == kModelWorkers * sizeof(ModelWorker) + 8);

// Errors that the code once had, or could have.
enum class Flaw { None, BlockedAreQuiet, OneRound, CountsReleases, AnsweredAreQuiet, CountsWhatIsRead };

class ShutdownModel {
 public:
  ShutdownModel(Shutdown first, Flaw flaw) : first_(first), flaw_(flaw) {}

  Shutdown first() const { return first_; }
  bool is_goal(const Shutdown& state) const { return state.is_done != 0; }
  std::string wrong_end(const Shutdown& state) const { return state.is_done ? "" : "the shutdown never ends"; }
  std::string wrong(const Shutdown& state) const {
    if (!state.is_done) return "";
    for (const ModelWorker& each : state.workers) {
      if (!is_idle(each) || each.waiting != 0) return "the shutdown has ended, and a worker has work";
      if (sum(each.calls) != 0) return "the shutdown has ended, and a call is in flight";
    }
    return "";
  }

  void add_steps(const Shutdown& state, std::vector<ModelStep<Shutdown>>& steps) const {
    if (state.is_done) return;
    for (std::size_t worker = 0; worker < kModelWorkers; ++worker) {
      const Adding add{state, worker, steps};
      add_work(add);
      add_arrivals(add);
      add_answer_to_probe(add);
    }
    add_round(state, steps);
  }

 private:
  struct Adding {
    const Shutdown& before;
    const std::size_t worker;
    std::vector<ModelStep<Shutdown>>& steps;

    const ModelWorker& own() const { return before.workers[worker]; }
    template <class Change>
    void step(const char* what, Change change) const {
      Shutdown after = before;
      change(after, after.workers[worker]);
      steps.push_back({what, static_cast<int>(worker), after});
    }
  };

  static int sum(const OfWorkers& counts) { return counts[0] + counts[1] + counts[2]; }
  static bool is_idle(const ModelWorker& worker) {
    return worker.callbacks + worker.blocked + worker.answered + sum(worker.serves) + sum(worker.read) == 0;
  }
  bool is_quiet(const ModelWorker& worker) const {
    ModelWorker seen = worker;
    if (flaw_ == Flaw::BlockedAreQuiet) seen.blocked = 0;
    if (flaw_ == Flaw::AnsweredAreQuiet) seen.answered = 0;
    seen.read = {};  // not known to run yet, and not counted as received
    return is_idle(seen) && seen.waiting == 0;
  }

  // Callbacks and handlers make calls, block, and end.
  void add_work(const Adding& add) const {
    const ModelWorker& own = add.own();
    const bool runs = own.callbacks + sum(own.serves) > 0;
    for (std::size_t to = 0; runs && to < kModelWorkers; ++to) {
      if (to == add.worker) continue;
      if (add.before.calls_left > 0) {
        add.step("calls", [&](Shutdown& state, ModelWorker& mine) {
          --state.calls_left, ++mine.sent, ++mine.waiting, ++state.workers[to].calls[add.worker];
        });
      }
      if (add.before.releases_left > 0) {
        add.step("sends a release", [&](Shutdown& state, ModelWorker& mine) {
          --state.releases_left, ++state.workers[to].releases;
          if (flaw_ == Flaw::CountsReleases) ++mine.sent;
        });
      }
    }
    if (own.callbacks > 0) {
      add.step("ends a callback", [](Shutdown&, ModelWorker& mine) { --mine.callbacks; });
      if (add.before.blocks_left > 0) {
        add.step("blocks in a callback",
                 [](Shutdown& state, ModelWorker& mine) { --state.blocks_left, --mine.callbacks, ++mine.blocked; });
      }
    }
    if (own.blocked > 0) {
      add.step("goes on in a callback", [](Shutdown&, ModelWorker& mine) { --mine.blocked, ++mine.callbacks; });
    }
    for (std::size_t caller = 0; caller < kModelWorkers; ++caller) {
      if (own.serves[caller] == 0) continue;
      add.step("answers a call", [caller](Shutdown& state, ModelWorker& mine) {
        --mine.serves[caller], ++state.workers[caller].answers;
      });
    }
    if (own.waiting > 0 && add.before.give_ups_left > 0) {
      add.step("gives up a call",
               [](Shutdown& state, ModelWorker& mine) { --state.give_ups_left, --mine.waiting, ++mine.given_up; });
    }
  }

  void add_arrivals(const Adding& add) const {
    const ModelWorker& own = add.own();
    for (std::size_t caller = 0; caller < kModelWorkers; ++caller) {
      if (own.calls[caller] > 0) {
        add.step("reads a call", [&](Shutdown&, ModelWorker& mine) {
          --mine.calls[caller], ++mine.read[caller];
          if (flaw_ == Flaw::CountsWhatIsRead) ++mine.received;
        });
      }
      if (own.read[caller] > 0) {
        add.step("runs a call", [&](Shutdown&, ModelWorker& mine) {
          --mine.read[caller], ++mine.serves[caller];
          if (flaw_ != Flaw::CountsWhatIsRead) ++mine.received;
        });
      }
    }
    if (own.answers > 0 && own.given_up > 0) {
      add.step("drops an answer", [](Shutdown&, ModelWorker& mine) { --mine.answers, --mine.given_up; });
    }
    if (own.answers > 0 && own.waiting > 0) {
      add.step("takes an answer",
               [](Shutdown&, ModelWorker& mine) { --mine.answers, --mine.waiting, ++mine.answered; });
    }
    if (own.answered > 0) {
      add.step("runs the callback", [](Shutdown&, ModelWorker& mine) { --mine.answered, ++mine.callbacks; });
    }
    if (own.releases == 0) return;
    add.step("loses a release", [](Shutdown&, ModelWorker& mine) { --mine.releases; });
    add.step("gets a release twice", [&](Shutdown&, ModelWorker& mine) {
      --mine.releases;
      if (flaw_ == Flaw::CountsReleases) mine.received = static_cast<std::uint8_t>(mine.received + 2);
    });
    add.step("gets a release", [&](Shutdown&, ModelWorker& mine) {
      --mine.releases;
      if (flaw_ == Flaw::CountsReleases) ++mine.received;
    });
  }

  void add_answer_to_probe(const Adding& add) const {
    if (!add.own().is_asked || !is_quiet(add.own())) return;
    add.step("tells its counts", [](Shutdown&, ModelWorker& mine) {
      mine.is_asked = 0, mine.told_sent = mine.sent, mine.told_received = mine.received;
    });
  }

  // The leader's step when all have answered.
  void add_round(const Shutdown& state, std::vector<ModelStep<Shutdown>>& steps) const {
    Shutdown after = state;
    std::uint8_t sent = 0, received = 0;
    for (ModelWorker& each : after.workers) {
      if (each.is_asked) return;
      sent = static_cast<std::uint8_t>(sent + each.told_sent);
      received = static_cast<std::uint8_t>(received + each.told_received);
      each.is_asked = 1;
      each.told_sent = each.told_received = 0;
    }
    const bool is_same = state.has_before && state.sent_before == sent && state.received_before == received;
    after.has_before = 1, after.sent_before = sent, after.received_before = received;
    after.is_done = sent == received && (is_same || flaw_ == Flaw::OneRound);
    steps.push_back({after.is_done ? "tells all that it is done" : "asks all", -1, after});
  }

  const Shutdown first_;
  const Flaw flaw_;
};

// A callback runs on the lowest worker; `calls` may be made, by any worker.
Walked walk_shutdown(int calls, int blocks, int give_ups, int releases, Flaw flaw) {
  Shutdown first;
  first.workers[0].callbacks = 1;
  for (ModelWorker& each : first.workers) each.is_asked = 1;
  first.calls_left = static_cast<std::uint8_t>(calls);
  first.blocks_left = static_cast<std::uint8_t>(blocks);
  first.give_ups_left = static_cast<std::uint8_t>(give_ups);
  first.releases_left = static_cast<std::uint8_t>(releases);
  const ShutdownModel model(first, flaw);
  return distrun::testing::Walk<Shutdown, ShutdownModel>(model).run();
}

TEST_CASE("a graceful shutdown ends when nothing runs and nothing is in flight, in every order of steps") {
  const auto check = [](int calls, int blocks, int give_ups, int releases) {
    const Walked walked = walk_shutdown(calls, blocks, give_ups, releases, Flaw::None);
    INFO(calls << " calls, " << blocks << " blocks, " << give_ups << " calls given up, " << releases
               << " releases: " << walked.states << " states, " << walked.ends << " ends\n"
               << walked.violation);
    CHECK(walked.violation.empty());
    CHECK(walked.ends > 0);
  };
  check(3, 0, 0, 0);
  check(2, 1, 1, 0);
  check(2, 0, 0, 1);
  check(1, 1, 1, 2);
}

TEST_CASE("the model of a shutdown finds the errors that its counts prevent") {
  CHECK_THAT(walk_shutdown(0, 1, 0, 0, Flaw::BlockedAreQuiet).violation, Catch::Contains("a worker has work"));
  CHECK_THAT(walk_shutdown(3, 0, 1, 0, Flaw::OneRound).violation, Catch::StartsWith("the shutdown has ended"));
  CHECK_THAT(walk_shutdown(0, 0, 0, 1, Flaw::CountsReleases).violation, Catch::StartsWith("it never ends well"));
  CHECK_THAT(walk_shutdown(1, 0, 0, 0, Flaw::AnsweredAreQuiet).violation, Catch::Contains("a worker has work"));
  CHECK_THAT(walk_shutdown(1, 0, 1, 0, Flaw::CountsWhatIsRead).violation, Catch::Contains("a worker has work"));
}

}  // namespace
}  // namespace distrun::rpc
