// The protocol of references: a change that finds no memory has changed nothing, and can be repeated.
#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include <distrun/runtime/rref/caretaker.hpp>
#include <distrun/runtime/rref/protocol/fork_protocol.hpp>

#include "support/process.hpp"
#include "unit/failing_steps/attempt.hpp"

namespace distrun::rref {
namespace {

using namespace distrun::testing;

const std::string kWhy(60, 'w');  // no value of a string within itself

// Three workers, and their messages in flight.
class World {
 public:
  explicit World(const Attempt& attempt) : attempt_(attempt) {}

  ForkProtocol& operator[](WorkerId id) { return *all_[static_cast<std::size_t>(id)]; }
  // Replaces the worker by another one with its id.
  void restart(WorkerId id) { all_[static_cast<std::size_t>(id)].emplace(id, 100); }
  // A change of the worker: once more if it has failed.
  template <class Change>
  auto change(WorkerId id, const Change& change_it) {
    ForkProtocol& protocol = (*this)[id];
    const std::string before = protocol.text();
    decltype(change_it(protocol)) made{};
    if (!attempt_.may_fail([&] { made = change_it(protocol); })) {
      require(protocol.text() == before, "the state is that before the change");
      require(protocol.effects().are_empty(), "nothing is to be done");
      made = change_it(protocol);
    }
    require(protocol.contradiction().empty(), "the state agrees with itself");
    take(id);
    return made;
  }
  void receive_all() {
    while (!sent_.empty()) {
      const Sent sent = sent_.front();
      sent_.pop_front();
      change(sent.to, [&](ForkProtocol& protocol) { return protocol.receive(sent.from, sent.message), true; });
    }
  }
  // Creates a reference of worker 1 to a value of worker 0.
  std::pair<RRefId, ForkId> create() {
    const std::pair<RRefId, ForkId> made{(*this)[1].next_rref(), (*this)[1].next_fork()};
    const auto [r, f] = made;
    change(1, [r = r, f = f](ForkProtocol& one) { return one.begin_creation(r, f, 0), true; });
    require(change(0, [r = r, f = f](ForkProtocol& owner) { return owner.create(r, f, 1); }), "it is new");
    change(1, [f = f](ForkProtocol& one) { return one.confirm_creation(f), true; });
    return made;
  }
  void arrive(WorkerId at, const Fork& fork) {
    change(at, [&](ForkProtocol& protocol) { return protocol.arrive(fork), true; });
  }
  void drop(WorkerId at, ForkId f) {
    change(at, [&](ForkProtocol& protocol) { return protocol.drop(f), true; });
  }
  void lose(WorkerId at, WorkerId peer) {
    change(at, [&](ForkProtocol& protocol) { return protocol.lose(peer, kWhy), true; });
  }
  void require_empty() {
    for (const auto& each : all_) {
      const ForkCounts counts = each->counts();
      require(counts.owned + counts.forks + counts.users + counts.early == 0 && counts.is_settled(), "nothing is left");
    }
  }

  std::size_t confirmed = 0, failed = 0, released = 0, uncreated = 0;

 private:
  struct Sent {
    WorkerId from = -1, to = -1;
    ForkMessage message;
  };

  void take(WorkerId id) {
    const Effects effects = (*this)[id].take_effects();
    for (const auto& [to, message] : effects.sends) sent_.push_back({id, to, message});
    confirmed += effects.confirmed.size();
    failed += effects.failed.size();
    released += effects.released.size();
    uncreated += effects.uncreated.size();
  }

  const Attempt& attempt_;
  std::array<std::optional<ForkProtocol>, 3> all_{std::optional<ForkProtocol>(std::in_place, 0),
                                                  std::optional<ForkProtocol>(std::in_place, 1),
                                                  std::optional<ForkProtocol>(std::in_place, 2)};
  std::deque<Sent> sent_;
};

TEST_CASE("references are shared and dropped though steps fail, and each value is released once") {
  every_step_may_fail([](Attempt& attempt) {
    World world(attempt);
    const auto [r, f] = world.create();
    const auto share = [&world, f = f](WorkerId to) {
      return world.change(1, [f, to](ForkProtocol& one) { return one.share_held(f, to); });
    };
    const Fork to_other = share(2), to_owner = share(0), unsent = share(2);
    world.arrive(2, to_other);
    world.arrive(0, to_owner);
    world.change(1, [&](ForkProtocol& one) { return one.withdraw(unsent), true; });
    world.receive_all();
    world.drop(1, f);
    world.receive_all();
    require(world.released == 0, "it is held");
    world.drop(2, to_other.fork);
    world.receive_all();
    require(world.released == 1 && world.confirmed == 2, "it is released, and the forks were confirmed");
    world.require_empty();
  });
}

TEST_CASE("an owner shares its value though steps fail") {
  every_step_may_fail([](Attempt& attempt) {
    World world(attempt);
    const RRefId r = world[0].next_rref();
    const auto share = [&] { return world.change(0, [&](ForkProtocol& owner) { return owner.share_owned(r, 2); }); };
    const Fork first = share(), unsent = share();
    world.change(0, [&](ForkProtocol& owner) { return owner.withdraw(unsent), true; });
    world.arrive(2, first);
    world.receive_all();
    require(world.released == 0, "it is held");
    world.drop(2, first.fork);
    world.receive_all();
    require(world.released == 1, "it is released");
    world.require_empty();
  });
}

TEST_CASE("a creation that is given up ends though steps fail, before its call arrives or after") {
  every_step_may_fail([](Attempt& attempt) {
    World world(attempt);
    for (const bool is_early : {true, false}) {
      const RRefId r = world[1].next_rref();
      const ForkId f = world[1].next_fork();
      const auto create = [&] { world.change(0, [&](ForkProtocol& owner) { return owner.create(r, f, 1); }); };
      world.change(1, [&](ForkProtocol& one) { return one.begin_creation(r, f, 0), true; });
      if (!is_early) create();
      world.change(1, [&](ForkProtocol& one) { return one.give_up_creation(f), true; });
      world.drop(1, f);
      world.receive_all();
      if (is_early) create();
    }
    require(world.released == 2, "both are released");
    world.require_empty();
  });
}

TEST_CASE("the loss of a holder or of the owner is taken though steps fail") {
  every_step_may_fail([](Attempt& attempt) {
    World world(attempt);
    const auto [r, f] = world.create();
    const auto share = [&world, f = f] {
      return world.change(1, [f](ForkProtocol& one) { return one.share_held(f, 2); });
    };
    world.arrive(2, share());
    share();  // not sent before its receiver is lost
    world.receive_all();
    world.lose(0, 2);
    world.lose(1, 2);
    require(world[1].counts().children == 0, "nothing is in flight to a lost worker");
    world.restart(2);
    world.change(1, [](ForkProtocol& one) { return one.meet(2), true; });
    const Fork again = share();
    world.arrive(2, again);  // its request is in flight when the owner is lost
    world.lose(2, 0);
    world.lose(1, 0);
    require(world.failed == 2, "both know that the value is lost");
    world.drop(1, f);
    world.drop(2, again.fork);
  });
}

TEST_CASE(
    "the loss of a creator ends what it has not created though steps fail, and all forks are dropped at the end") {
  every_step_may_fail([](Attempt& attempt) {
    World world(attempt);
    const RRefId r = world[1].next_rref();
    const ForkId f = world[1].next_fork();
    world.change(1, [&](ForkProtocol& one) { return one.begin_creation(r, f, 0), true; });
    const Fork shared = world.change(1, [&](ForkProtocol& one) { return one.share_held(f, 2); });
    world.arrive(2, shared);
    world.receive_all();  // the owner notes the fork of a value that is not created yet
    world.lose(0, 1);
    require(world.uncreated == 1, "it will not be created");
    world.change(2, [](ForkProtocol& other) { return other.drop_all(); });
    world.receive_all();
    require(world.released == 1, "it is released");
    require(world[0].owned_count() == 0, "nothing is owned");
  });
}

TEST_CASE("a caretaker whose thread cannot be started starts it at the next change") {
  every_step_may_fail([](Attempt& attempt) {
    std::atomic<int> looks{0};
    const auto waiting = [&looks](std::size_t) { return ++looks, Caretaker::Outboxes(); };
    Caretaker caretaker({waiting, [](WorkerKey, const ForkMessage&) {}, [](std::size_t) { return ledger::Page(); }});
    attempt.may_fail([&] { caretaker.notice(); });
    caretaker.notice();
    require(eventually(std::chrono::seconds(10), [&looks] { return looks > 0; }), "it looks for waiting messages");
  });
}

}  // namespace
}  // namespace distrun::rref
