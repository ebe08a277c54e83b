#include <catch2/catch.hpp>

#include <csignal>

#include "stage.hpp"

using namespace distrun;
using namespace distrun::runner;
using namespace std::chrono_literals;

namespace {

// Adds the main thread of a rank, which waits in the kernel.
wire::ThreadStack& add_sleeper(evidence::Stacks& stacks, int rank) {
  evidence::Process& process = stacks.processes.emplace_back();
  process.index = process.rank = rank;
  process.pid = 1000 + rank;
  wire::ThreadStack& thread = process.threads.emplace_back();
  thread.task.tid = process.pid;
  thread.task.state = 'S';
  thread.task.cpu_ns = 1'000'000;
  thread.task.syscall = "futex(0x10)";
  return thread;
}

wire::ObservedWait mutex_held_by(int rank) {
  const int holder = 1000 + rank;
  return {wire::WaitObject::Mutex,
          "mutex 0x10",
          "mutex of " + std::to_string(rank),
          "",
          {{holder, holder, ""}},
          true,
          "",
          ""};
}

// Each of two ranks waits for a mutex that the other holds, as two looks see it.
evidence::Stacks cycle_of_two() {
  evidence::Stacks stacks;
  add_sleeper(stacks, 0).wait = mutex_held_by(1);
  add_sleeper(stacks, 1).wait = mutex_held_by(0);
  return stacks;
}

fake::World& begin_asleep(Stage& stage, evidence::Stacks asleep) {
  fake::World& world = stage.begin();
  world.asleep = std::move(asleep);
  world.start_and_greet_all();
  return world;
}

void expect_pass(Stage& stage, fake::World& world) {
  world.pass(0);
  world.pass(1);
  CHECK(stage.finish().verdict == Verdict::Pass);
}

// Lets the ranks use CPU until `done` holds.
template <class Done>
bool compute_until(Stage& stage, fake::World& world, Done done) {
  return stage.until([&] {
    world.used += 1ms;
    return done();
  });
}

}  // namespace

TEST_CASE("ranks that can never continue are ended at once, and the verdict is a deadlock") {
  Stage stage(2);
  fake::World& world = begin_asleep(stage, cycle_of_two());
  REQUIRE(stage.until([&] { return world.was_sent(0, SIGTERM); }));
  world.die(0, SIGTERM);
  world.end(1, proc::ExitStatus::of_code(3));  // its handler of SIGTERM exits
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Deadlock);
  CHECK(record.culprits == std::vector<int>{0, 1});
  CHECK(record.cause.kind == CauseKind::Deadlock);
  CHECK(record.message == "deadlock (proven): ranks 0-1 wait for each other");
  CHECK(record.ranks[0].outcome.kind == OutcomeKind::KilledByUs);
  REQUIRE(record.snapshots.size() == 1);
  CHECK(record.snapshots.front().kind == SnapshotKind::Deadlock);
  CHECK(world.gentle_looks == 2);
  CHECK(world.snapshots == 1);
}

TEST_CASE("ranks are not looked at before all have started: what one of them is about to do is not known") {
  Stage stage(2);
  fake::World& world = stage.begin();
  world.asleep = cycle_of_two();
  world.start(0);
  world.hello(0);
  const auto begun = fake::Clock::now();
  stage.until([&] { return fake::Clock::now() - begun > 700ms; });
  CHECK(world.gentle_looks == 0);
  CHECK(world.signals.empty());
  world.start(1);
  world.hello(1);
  expect_pass(stage, world);
}

TEST_CASE("a message that reaches the coordinator during the second look was on its way: nothing is proven") {
  Stage stage(2);
  fake::World& world = begin_asleep(stage, cycle_of_two());
  world.hold_gentle = true;
  REQUIRE(stage.until([&] { return world.gentle_looks == 1; }));
  world.give_gentle();
  REQUIRE(stage.until([&] { return world.gentle_looks == 2; }));
  SECTION("a message for a rank") {
    world.say(1, wire::ControlFrame::Message, wire::RankMessage{1, 0, "go", ""});
    world.give_gentle();
    const auto begun = fake::Clock::now();
    stage.until([&] { return fake::Clock::now() - begun > 300ms; });
    CHECK(world.signals.empty());
    expect_pass(stage, world);
  }
  SECTION("nothing") {
    world.give_gentle();
    REQUIRE(stage.until([&] { return world.was_sent(0, SIGTERM); }));
    world.die(0, SIGTERM);
    world.die(1, SIGTERM);
    CHECK(stage.finish().verdict == Verdict::Deadlock);
  }
}

TEST_CASE("a deadlock that is only reported is shown once, and the ranks get their time") {
  Stage stage(2);
  stage.settings.deadlock = DeadlockPolicy::Report;
  fake::World& world = begin_asleep(stage, cycle_of_two());
  REQUIRE(stage.until([&] { return stage.told.count("look suspect") == 1; }));
  CHECK(world.signals.empty());
  expect_pass(stage, world);
}

TEST_CASE("ranks that work are not looked at") {
  Stage stage(2);
  fake::World& world = begin_asleep(stage, cycle_of_two());
  SECTION("they use CPU") { world.computes = true; }
  SECTION("they make progress on the board") {
    world.boards[0].epoch = 1;
    world.makes_progress = true;
  }
  const auto begun = fake::Clock::now();
  stage.until([&] { return fake::Clock::now() - begun > 700ms; });
  CHECK(world.gentle_looks == 0);
  expect_pass(stage, world);
}

TEST_CASE("a wait that is not proven ends nothing, and after a while a line says what is waited for") {
  Stage stage(2);
  stage.settings.suspect_after = 300ms;
  evidence::Stacks stacks = cycle_of_two();
  stacks.processes[1].threads.front().wait.limit = "30 s";
  fake::World& world = begin_asleep(stage, std::move(stacks));
  REQUIRE(stage.until([&] { return stage.told.count("look suspect") == 1; }));
  CHECK(world.signals.empty());
  CHECK(world.snapshots == 0);
  expect_pass(stage, world);
  CHECK(stage.record->snapshots.empty());
}

TEST_CASE("ranks that wait while another one computes get a line after a while, and the next after twice the time") {
  Stage stage(2);
  stage.settings.suspect_after = 300ms;
  evidence::Stacks stacks;
  add_sleeper(stacks, 0).wait = mutex_held_by(1);
  fake::World& world = begin_asleep(stage, std::move(stacks));
  REQUIRE(compute_until(stage, world, [&] { return stage.told.count("look suspect") == 1; }));
  CHECK(world.gentle_looks == 2);
  REQUIRE(compute_until(stage, world, [&] { return stage.told.count("look suspect") == 2; }));
  CHECK(world.gentle_looks == 4);
  expect_pass(stage, world);
}

TEST_CASE("ranks that all compute are no reason for a line") {
  Stage stage(2);
  stage.settings.suspect_after = 300ms;
  evidence::Stacks stacks;
  add_sleeper(stacks, 0).task.state = 'R';
  add_sleeper(stacks, 1).task.state = 'R';
  fake::World& world = begin_asleep(stage, std::move(stacks));
  REQUIRE(compute_until(stage, world, [&] { return world.gentle_looks == 4; }));
  CHECK(stage.told.count("look suspect") == 0);
  expect_pass(stage, world);
}

TEST_CASE("no look is taken if neither deadlocks nor suspicions are asked for") {
  Stage stage(2);
  stage.settings.deadlock = DeadlockPolicy::Off;
  stage.settings.suspect_after = 0ns;
  stage.settings.timeout = 700ms;
  fake::World& world = begin_asleep(stage, cycle_of_two());
  REQUIRE(stage.until([&] { return world.was_sent(0, SIGTERM); }));
  CHECK(world.gentle_looks == 0);
  world.die(0, SIGTERM);
  world.die(1, SIGTERM);
  CHECK(stage.finish().verdict == Verdict::Timeout);
}
