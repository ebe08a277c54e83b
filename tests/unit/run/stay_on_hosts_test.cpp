// Persistent ranks on several hosts, whose nodes provide for each test and look for what ranks leave.
#include <catch2/catch.hpp>

#include <csignal>
#include <cstdint>

#include "stay_show.hpp"

using namespace distrun;
using namespace distrun::runner;

namespace {

struct StayOnHosts : StayShow {
  explicit StayOnHosts(const Names& tests) : StayShow(tests) { node.host_of = {"node01", "node02"}; }
  fake::World& world(std::size_t index) { return *node.worlds.at(index); }
};

}  // namespace

TEST_CASE("ranks on hosts run all tests of a suite, and their hosts provide for each") {
  StayOnHosts show({"a", "b", "c"});
  CHECK(exit_code_of(show.play()) == 0);
  CHECK(show.verdicts() == Names{"pass", "pass", "pass"});
  CHECK(show.node.spawned == 1);
  CHECK(show.world(0).renewed == Names{"Ring.b", "Ring.c"});
  CHECK(show.world(0).kept == 2);
  CHECK(show.run->record().tests.at(2).attempts.at(0).ranks.at(1).host == "node02");
}

TEST_CASE("ranks that have left something on their hosts are dismissed, and the next test has fresh ones") {
  StayOnHosts show({"a", "b"});
  show.acts["Ring.a"] = [](fake::World& world, int rank) {
    world.clean = false;
    world.left_behind = {{static_cast<std::uint8_t>(LeakKind::Process), "7 (sleep 9) on node02", true}};
    world.done(rank);
  };
  show.play();
  CHECK(show.verdicts() == Names{"leak", "pass"});
  CHECK(show.node.spawned == 2);
  CHECK(show.world(0).kept == 0);
  CHECK(show.dismissed == std::vector<int>{0, 1});
}

TEST_CASE("a rank that dies while its hosts look for what was left fails the test, and no rank is kept") {
  StayOnHosts show({"a", "b"});
  show.acts["Ring.a"] = [](fake::World& world, int rank) {
    world.on_inspect = [&world] { world.die(1, SIGSEGV); };
    world.done(rank);
  };
  show.play();
  CHECK(show.verdicts() == Names{"crash", "pass"});
  CHECK(show.node.spawned == 2);
  CHECK(show.world(0).kept == 0);
}

TEST_CASE("a host that is lost while its hosts look for what was left ends the test, and no rank is kept") {
  StayOnHosts show({"a", "b"});
  show.acts["Ring.a"] = [](fake::World& world, int rank) {
    world.on_inspect = [&world] {
      world.events().on_host_lost({1}, "node02 was lost: its node ended");
      world.die(1, SIGKILL);
    };
    world.done(rank);
  };
  show.play();
  CHECK(show.verdicts() == Names{"infra-error", "pass"});
  CHECK(show.node.spawned == 2);
  CHECK(show.world(0).kept == 0);
}

TEST_CASE("a host that is lost while its ranks wait for the next test is a problem of the run, with the reason") {
  StayOnHosts show({"a", "b"});
  show.acts["Ring.a"] = [&show](fake::World& world, int rank) {
    world.done(rank);
    if (rank == 0) return;
    show.node.on_prepare = [&world] {
      world.events().on_host_lost({1}, "node02 was lost: its node ended");
      world.die(1, SIGKILL);
    };
  };
  show.play();
  CHECK(show.verdicts() == Names{"pass", "pass"});
  CHECK(show.node.spawned == 2);
  REQUIRE(show.run->record().problems.size() == 1);
  CHECK(show.run->record().problems.front().text ==
        "while the ranks of Ring waited for their next test, node02 was lost: its node ended");
}

TEST_CASE("a process that ranks leave on a host as they are dismissed is a problem of the run") {
  StayOnHosts show({"a"});
  show.settings.until_fail = 5;
  show.acts["Ring.a"] = [](fake::World& world, int rank) {
    world.left_behind = {{static_cast<std::uint8_t>(LeakKind::Process), "7 (sleep 9) on node02", true}};
    world.say(rank, wire::ControlFrame::Skip, wire::SkipReport{86, "not today"});
    world.done(rank, false);
  };
  show.play();
  CHECK(show.verdicts() == Names{"skip"});
  REQUIRE(show.run->record().problems.size() == 1);
  CHECK(show.run->record().problems.front().text ==
        "when the ranks of Ring were dismissed, they left the process 7 (sleep 9) on node02 behind");
}
