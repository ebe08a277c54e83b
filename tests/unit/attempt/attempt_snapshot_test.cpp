#include <catch2/catch.hpp>

#include <csignal>
#include <limits>

#include "stage.hpp"

using namespace distrun;
using namespace distrun::runner;
using namespace std::chrono_literals;

namespace {

// Starts two ranks and lets their bodies time out.
fake::World& let_time_run_out(Stage& stage) {
  stage.settings.timeout = 50ms;
  fake::World& world = stage.begin();
  world.hold_stacks = true;
  world.start_and_greet_all();
  REQUIRE(stage.until([&] { return world.snapshots == 1; }));
  return world;
}

// Reports an exception's error, as a rank does.
void say_threw(fake::World& world, int rank) {
  wire::ErrorReport report{"std::out_of_range", "map::at", "", 0, "", true, -1};
  report.thrown_at.pid = 1000 + rank;
  report.thrown_at.threads.emplace_back().pcs = {0x1000};
  world.say(rank, wire::ControlFrame::Error, report);
}

// Returns stacks that were all thrown at the same place.
evidence::Stacks thrown_in_ring(const std::vector<std::pair<int, wire::RawStacks>>& asked) {
  evidence::Stacks stacks;
  stacks.table.push_back({0x1000, "pass_token", "/tests/ring.cpp", 41, "/tests/ring.so"});
  for (const auto& [rank, raw] : asked) {
    evidence::Process& process = stacks.processes.emplace_back();
    process.index = static_cast<int>(stacks.processes.size()) - 1;
    process.rank = rank;
    process.pid = raw.pid;
    process.threads.emplace_back().task.tid = raw.pid;
    process.threads.back().frames = {0};
  }
  return stacks;
}

void end_all(Stage& stage, fake::World& world) {
  REQUIRE(stage.until([&] { return world.was_sent(0, SIGTERM); }));
  for (int rank = 0; rank < world.spec().world_size; ++rank) world.die(rank, SIGTERM);
}

}  // namespace

TEST_CASE("a timeout requests the stacks before it notifies or ends any rank") {
  Stage stage(2);
  stage.graces.timeout_evidence = 10s;
  fake::World& world = let_time_run_out(stage);
  testing::run_ready(stage.loop);
  CHECK(world.signals.empty());
  CHECK(world.frames(0, wire::ControlFrame::PeerFailed).empty());
  CHECK(world.frames(1, wire::ControlFrame::PeerFailed).empty());
  world.give_stacks();
  end_all(stage, world);
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Timeout);
  REQUIRE(record.snapshots.size() == 1);
  CHECK(record.snapshots.front().kind == SnapshotKind::Timeout);
  CHECK(stage.told.count("look timeout") == 1);
}

TEST_CASE("missing stacks delay the end of an attempt no longer than their bound") {
  Stage stage(2);
  stage.graces.timeout_evidence = 40ms;
  fake::World& world = let_time_run_out(stage);
  end_all(stage, world);
  CHECK_FALSE(stage.is_over());  // stacks may still arrive
  world.give_stacks();
  CHECK(stage.finish().verdict == Verdict::Timeout);
}

TEST_CASE("ranks that still have time are notified after the snapshot") {
  Stage stage(2);
  stage.settings.timeout = 50ms;
  fake::World& world = stage.begin();
  world.hold_stacks = true;
  world.start(0);
  world.hello(0);
  REQUIRE(stage.until([&] { return world.snapshots == 1; }));
  world.start(1);  // its body begins now
  world.hello(1);
  testing::run_ready(stage.loop);
  CHECK(world.frames(1, wire::ControlFrame::PeerFailed).empty());
  world.give_stacks();
  REQUIRE(stage.until([&] { return !world.frames(1, wire::ControlFrame::PeerFailed).empty(); }));
  world.error(1, "peer failed", 0);
  world.end(1, proc::ExitStatus::of_code(10));
  world.die(0, SIGTERM);
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Timeout);
  CHECK(record.culprits == std::vector<int>{0});
}

TEST_CASE("a cancellation does not wait for stacks, and the end does") {
  Stage stage(2);
  stage.graces.timeout_evidence = 10s;
  fake::World& world = let_time_run_out(stage);
  stage.attempt->cancel(Urgency::Polite);
  CHECK(world.was_sent(0, SIGTERM));
  world.die(0, SIGTERM);
  world.die(1, SIGTERM);
  CHECK_FALSE(stage.is_over());
  world.give_stacks();
  CHECK(stage.finish().verdict == Verdict::Cancelled);
}

TEST_CASE("a rank that was awake for a moment is shown in the wait that it has been in for long") {
  Stage stage(2);
  stage.settings.timeout = 50ms;
  fake::World& world = stage.begin();
  world.hold_stacks = true;
  world.boards[0] = world.boards[1] = {};
  world.start_and_greet_all();
  REQUIRE(stage.until([&] { return world.snapshots == 1; }));
  board::ShownWait wait;
  wait.name = "step";
  wait.kind = board::WaitKind::Barrier;
  wait.rule = board::PeerRule::All;
  wait.peers = {1};
  wait.in_body = true;
  wait.since_ns = 1;
  world.boards[0].waits = {wait};
  wait.since_ns = std::numeric_limits<std::int64_t>::max();  // later than the snapshot
  world.boards[1].waits = {wait};
  world.give_stacks();
  end_all(stage, world);
  const AttemptRecord& record = stage.finish();
  CHECK(record.culprits == std::vector<int>{1});
  CHECK_THAT(record.message, Catch::Contains("; rank 0 waits for it in barrier \"step\""));
}

TEST_CASE("a rank that still shows a finished barrier is not reported as waiting") {
  Stage stage(2);
  stage.settings.timeout = 50ms;
  fake::World& world = stage.begin();
  world.hold_stacks = true;
  world.start_and_greet_all();
  board::ShownWait wait;
  wait.name = "step";
  wait.kind = board::WaitKind::Barrier;
  wait.rule = board::PeerRule::All;
  wait.in_body = true;
  for (int rank = 0; rank < 2; ++rank) {
    wait.peers = {1 - rank};
    world.boards[rank].waits = {wait};
    world.say(rank, wire::ControlFrame::BarrierEnter, wire::BarrierEnter{"step"});
  }
  world.say(0, wire::ControlFrame::BarrierEnter, wire::BarrierEnter{"step"});  // again
  REQUIRE(stage.until([&] { return world.snapshots == 1; }));
  world.give_stacks();
  end_all(stage, world);
  const AttemptRecord& record = stage.finish();
  CHECK(record.culprits == std::vector<int>{1});
  CHECK_THAT(record.message,
             Catch::Contains(": rank 1 ") && Catch::Contains("; rank 0 waits for it in barrier \"step\""));
}

TEST_CASE("a snapshot of a long-running test is taken before the test is stopped") {
  Stage stage(2);
  stage.graces.last_snapshot_after = 0s;
  stage.graces.last_snapshot = 10s;
  fake::World& world = stage.begin();
  world.hold_stacks = true;
  world.start_and_greet_all();
  stage.attempt->cancel(Urgency::Polite);
  CHECK(world.snapshots == 1);
  CHECK(world.signals.empty());
  SECTION("and the test ends when the snapshot is complete") {
    world.give_stacks();
    end_all(stage, world);
    const AttemptRecord& record = stage.finish();
    CHECK(record.verdict == Verdict::Cancelled);
    REQUIRE(record.snapshots.size() == 1);
    CHECK(record.snapshots.front().kind == SnapshotKind::Asked);
    CHECK(stage.told.count("look asked") == 1);
  }
  SECTION("unless the cancellation is urgent") {
    stage.attempt->cancel(Urgency::AtOnce);
    CHECK(world.signals_of(0).back() == SIGKILL);
    for (int rank = 0; rank < 2; ++rank) world.die(rank, SIGKILL);
    world.give_stacks();
    CHECK(stage.finish().verdict == Verdict::Cancelled);
  }
}

TEST_CASE("the last snapshot of a test delays its end no longer than its bound") {
  Stage stage(2);
  stage.graces.last_snapshot_after = 0s;
  stage.graces.last_snapshot = 20ms;
  fake::World& world = stage.begin();
  world.hold_stacks = true;
  world.start_and_greet_all();
  stage.attempt->cancel(Urgency::Polite);
  end_all(stage, world);
  world.give_stacks();
  CHECK(stage.finish().verdict == Verdict::Cancelled);
}

TEST_CASE("a snapshot taken on request does not change the result of the test") {
  Stage stage(2);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  CHECK(stage.attempt->take_snapshot_now());
  REQUIRE(stage.until([&] { return stage.told.count("look asked") == 1; }));
  int told_alone = 0;
  CHECK(stage.attempt->take_snapshot_now([&](const Snapshot&) { ++told_alone; }));
  REQUIRE(stage.until([&] { return told_alone == 1; }));
  CHECK(stage.told.count("look asked") == 1);
  CHECK(world.signals.empty());
  world.pass(0);
  world.pass(1);
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Pass);
  CHECK(record.snapshots.size() == 1);
  CHECK_FALSE(stage.attempt->take_snapshot_now());
}

TEST_CASE("a snapshot of a slow body is taken once, when --stacks-after says so") {
  Stage stage(2);
  stage.settings.stacks_after = 30ms;
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  REQUIRE(stage.until([&] { return stage.told.count("look slow") == 1; }));
  CHECK(stage.record.has_value() == false);
  world.pass(0);
  world.pass(1);
  CHECK(stage.finish().verdict == Verdict::Pass);
  CHECK(world.snapshots == 1);
}

TEST_CASE("a pause stops ranks and clocks, and loses neither messages nor time") {
  Stage stage(2);
  stage.settings.timeout = 60ms;
  const auto begun = fake::Clock::now();
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  stage.attempt->pause();
  CHECK(world.was_sent(0, SIGSTOP));
  CHECK(world.was_sent(1, SIGSTOP));
  const auto paused = fake::Clock::now();
  CHECK_FALSE(testing::run_until(
      stage.loop, [&] { return fake::Clock::now() - paused > 150ms && world.snapshots > 0; }, 200ms));
  stage.attempt->resume();
  CHECK(world.was_sent(0, SIGCONT));
  CHECK(world.snapshots == 0);
  world.pass(0);
  world.pass(1);
  CHECK(stage.finish().verdict == Verdict::Pass);
  // Durations exclude the pause.
  CHECK(stage.record->duration < fake::Clock::now() - begun - 150ms);
  CHECK(stage.record->ranks[0].ended <= stage.record->duration);
}

TEST_CASE("an attempt does not end before its exceptions have a source location, and reports equal ones together") {
  Stage stage(3);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  for (int rank = 0; rank < 3; ++rank) say_threw(world, rank);
  for (int rank = 0; rank < 3; ++rank) world.end(rank, proc::ExitStatus::of_code(10));
  CHECK_FALSE(stage.is_over());
  REQUIRE(world.to_name.size() == 1);
  CHECK(world.to_name[0].size() == 1);
  world.give_names(thrown_in_ring(world.to_name[0]));
  REQUIRE(stage.until([&] { return world.to_name.size() == 2; }));  // those that arrived meanwhile
  CHECK(world.to_name[1].size() == 2);
  CHECK_FALSE(stage.is_over());
  world.give_names(thrown_in_ring(world.to_name[1]));
  const AttemptRecord& record = stage.finish();
  CHECK(record.message == "rank 0 failed: map::at (/tests/ring.cpp:41); so did ranks 1-2");
  CHECK(record.ranks[2].errors.front().stack == "pass_token at /tests/ring.cpp:41\n");
  REQUIRE(record.snapshots.size() == 1);
  CHECK(record.snapshots.front().kind == SnapshotKind::Exception);
  CHECK(stage.told.count("look exception") == 1);
  CHECK(evidence::plain(record.snapshots.front().text.front()) == "ranks 0-2 (main threads, threw std::out_of_range)");
}

TEST_CASE("an exception with an unknown source location is reported without one") {
  Stage stage(1);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  say_threw(world, 0);
  world.end(0, proc::ExitStatus::of_code(10));
  world.give_names({});
  const AttemptRecord& record = stage.finish();
  CHECK(record.message == "rank 0 failed: map::at");
  CHECK(record.snapshots.empty());
}
