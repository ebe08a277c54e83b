#include <catch2/catch.hpp>

#include <csignal>

#include "stage.hpp"

using namespace distrun;
using namespace distrun::runner;
using namespace std::chrono_literals;

namespace {

// Stacks of ranks 0 to 2, which are processes 1000 to 1002.
evidence::Stacks of_three_ranks() {
  evidence::Stacks stacks;
  stacks.table.push_back({0x1000, "wait_for_token", "/tests/ring.cpp", 41, "/tests/ring.so"});
  for (int rank = 0; rank < 3; ++rank) {
    evidence::Process& process = stacks.processes.emplace_back();
    process.index = process.rank = rank;
    process.pid = 1000 + rank;
    process.threads.emplace_back().task.tid = process.pid;
    process.threads.back().frames = {0};
  }
  return stacks;
}

// Rank 1 fails while the others go on.
fake::World& let_rank_1_fail(Stage& stage) {
  stage.settings.deadlock = DeadlockPolicy::Off;  // whose looks are gentle as well
  stage.settings.suspect_after = 0ns;
  fake::World& world = stage.begin();
  world.asleep = of_three_ranks();
  world.start_and_greet_all();
  world.error(1, "token is lost");
  world.end(1, proc::ExitStatus::of_code(10));
  return world;
}

void end_the_others(Stage& stage, fake::World& world) {
  REQUIRE(stage.until([&] { return world.was_sent(0, SIGTERM); }));
  world.die(0, SIGTERM);
  world.die(2, SIGTERM);
}

}  // namespace

TEST_CASE("when a rank has failed, the ranks that go on are looked at before they are ended") {
  Stage stage;
  fake::World& world = let_rank_1_fail(stage);
  end_the_others(stage, world);
  const AttemptRecord& record = stage.finish();
  REQUIRE(record.snapshots.size() == 1);
  const Snapshot& snapshot = record.snapshots.front();
  CHECK(snapshot.kind == SnapshotKind::Failure);
  REQUIRE(snapshot.stacks.processes.size() == 2);
  CHECK(snapshot.stacks.processes.front().rank == 0);
  CHECK(snapshot.stacks.processes.back().rank == 2);
  CHECK_FALSE(snapshot.text.empty());
  CHECK(stage.told.count("look failure") == 1);
}

TEST_CASE("ranks that end soon after a failure are not looked at") {
  Stage stage;
  stage.graces.peers = 10s;
  fake::World& world = let_rank_1_fail(stage);
  for (const int rank : {0, 2}) {
    world.error(rank, "rank 1 has failed", 1);
    world.end(rank, proc::ExitStatus::of_code(10));
  }
  CHECK(stage.finish().snapshots.empty());
  CHECK(world.gentle_looks == 0);
}

TEST_CASE("nothing waits for a look at the ranks that go on") {
  Stage stage;
  stage.graces.peers = 500ms;
  fake::World& world = let_rank_1_fail(stage);
  world.hold_gentle = true;
  REQUIRE(stage.until([&] { return world.gentle_looks == 1; }));
  world.die(0, SIGKILL);
  world.die(2, SIGKILL);
  CHECK(stage.finish().snapshots.empty());
  world.give_gentle();  // too late
  testing::run_ready(stage.loop);
}

TEST_CASE("without a grace for peers there is no time for a look") {
  Stage stage;
  stage.graces.peers = 0ms;
  fake::World& world = let_rank_1_fail(stage);
  end_the_others(stage, world);
  CHECK(stage.finish().snapshots.empty());
  CHECK(world.gentle_looks == 0);
}

TEST_CASE("a rank that is ended after another has failed says what it waited for on the board") {
  Stage stage;
  fake::World& world = let_rank_1_fail(stage);
  board::ShownWait wait;
  wait.kind = board::WaitKind::Custom;
  wait.name = "token";
  wait.in_body = true;
  board::Shown shown;
  shown.waits = {wait};
  world.boards = {{0, shown}};
  end_the_others(stage, world);
  const AttemptRecord& record = stage.finish();
  CHECK(record.ranks[0].waiting_in.find("token") != std::string::npos);
  CHECK(record.ranks[2].waiting_in.empty());
}
