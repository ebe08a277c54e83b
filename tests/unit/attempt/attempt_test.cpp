#include <catch2/catch.hpp>

#include <csignal>

#include "stage.hpp"

using namespace distrun;
using namespace distrun::runner;
using proc::ExitStatus;
using wire::ControlFrame;

TEST_CASE("each rank that says hello gets its run order, and an attempt passes when its ranks pass") {
  Stage stage;
  fake::World& world = stage.begin();
  CHECK(world.spec().world_size == 3);
  CHECK(world.spec().plugin == "ring.so");
  world.start_and_greet_all();
  for (int rank = 0; rank < 3; ++rank) {
    const auto orders = world.messages<wire::RunOrder>(rank, ControlFrame::Run);
    REQUIRE(orders.size() == 1);
    CHECK(orders[0].rank == rank);
    CHECK(orders[0].test_id == "Ring.pass");
    CHECK(testing::exists(orders[0].work_dir));
  }
  world.output[1] = "hello";
  for (int rank = 0; rank < 3; ++rank) {
    CHECK_FALSE(stage.is_over());
    world.pass(rank);
  }
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Pass);
  CHECK(record.message.empty());
  REQUIRE(record.ranks.size() == 3);
  CHECK(record.ranks[1].out.text == "hello");
  CHECK(record.ranks[1].checks == 7);
  CHECK(record.ranks[1].pid == 1001);
  CHECK(record.ranks[1].exit_code == 0);
  CHECK(world.signals.empty());
  CHECK(stage.told.lines.front() == "attempt start 1");
  CHECK(stage.told.lines.back() == "attempt end pass");
}

TEST_CASE("when a rank fails the others are notified at once, and have a grace period to exit") {
  Stage stage;
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  world.error(1, "token is lost");
  for (const int rank : {0, 2}) {
    const auto news = world.messages<wire::PeerFailed>(rank, ControlFrame::PeerFailed);
    REQUIRE(news.size() == 1);
    CHECK(news[0].rank == 1);
    CHECK(news[0].text == "token is lost");
  }
  CHECK(world.frames(1, ControlFrame::PeerFailed).empty());
  world.error(0, "rank 1 failed: token is lost", 1);
  for (int rank = 0; rank < 3; ++rank) {
    if (rank == 2) world.done(2);
    world.end(rank, ExitStatus::of_code(rank == 2 ? 0 : 10));
  }
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Fail);
  CHECK(record.culprits == std::vector<int>{1});
  CHECK(record.message == "rank 1 failed: token is lost (ring.cpp:41)");
  CHECK(record.ranks[0].because_of == 1);
  CHECK(record.ranks[2].outcome.kind == OutcomeKind::Passed);
  CHECK(world.signals.empty());  // no rank had to be ended
}

TEST_CASE("a rank that is still there after the grace gets SIGTERM and SIGCONT, and SIGKILL after the next") {
  Stage stage;
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  const auto failed = fake::Clock::now();
  world.error(1, "token is lost");
  world.end(1, ExitStatus::of_code(10));
  REQUIRE(stage.until([&] { return world.was_sent(0, SIGTERM) && world.was_sent(2, SIGTERM); }));
  CHECK(fake::Clock::now() - failed >= stage.graces.peers);
  CHECK(world.signals_of(0) == std::vector<int>{SIGTERM, SIGCONT});
  CHECK(world.signals_of(1).empty());  // it has ended
  world.die(0, SIGTERM);
  REQUIRE(stage.until([&] { return world.was_sent(2, SIGKILL); }));
  CHECK(fake::Clock::now() - failed >= stage.graces.peers + stage.graces.terminate);
  CHECK_FALSE(world.was_sent(0, SIGKILL));
  world.die(2, SIGKILL);
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Fail);
  CHECK(record.culprits == std::vector<int>{1});
  for (const std::size_t rank : {std::size_t{0}, std::size_t{2}}) {
    CHECK(record.ranks[rank].outcome.kind == OutcomeKind::KilledByUs);
    CHECK(record.ranks[rank].because_of == 1);
  }
}

TEST_CASE("a rank that survives SIGKILL is given up and named") {
  Stage stage(2);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  world.die(0, SIGSEGV);
  const AttemptRecord& record = stage.finish();
  CHECK(world.was_sent(1, SIGKILL));
  CHECK(record.verdict == Verdict::Crash);
  CHECK(record.culprits == std::vector<int>{0});
  CHECK(record.ranks[1].outcome.kind == OutcomeKind::KilledByUs);
  REQUIRE(record.leaks.size() == 1);
  CHECK_THAT(record.leaks[0].what, Catch::Contains("which SIGKILL did not end"));
  CHECK_FALSE(record.leaks[0].removed);
}

TEST_CASE("a rank that exits long after SIGKILL has not survived it") {
  Stage stage(2);
  stage.graces.exit = std::chrono::hours(1);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  world.die(0, SIGSEGV);
  REQUIRE(stage.until([&] { return world.was_sent(1, SIGKILL); }));
  io::Alarm later(stage.loop, [&] { world.die(1, SIGKILL); });
  later.set(std::chrono::steady_clock::now() + 3 * stage.graces.kill);
  CHECK(stage.finish().leaks.empty());
}

TEST_CASE("the end of the last rank ends every state at once") {
  const std::string state = GENERATE("grace", "terminating", "killing");
  Stage stage(2);
  stage.graces.peers = state == "grace" ? std::chrono::hours(1) : std::chrono::milliseconds(1);
  stage.graces.terminate = state == "terminating" ? std::chrono::hours(1) : std::chrono::milliseconds(1);
  stage.graces.kill = std::chrono::hours(1);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  world.die(0, SIGSEGV);
  if (state == "terminating") REQUIRE(stage.until([&] { return world.was_sent(1, SIGTERM); }));
  if (state == "killing") REQUIRE(stage.until([&] { return world.was_sent(1, SIGKILL); }));
  world.die(1, state == "killing" ? SIGKILL : SIGTERM);
  CHECK(stage.finish().verdict == Verdict::Crash);
}

TEST_CASE("a death that the test declared does not fail the other ranks") {
  Stage stage;
  stage.test.info.may_die = {{2, wire::DeathKind::Signal, SIGKILL}};
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  world.die(2, SIGKILL);
  for (const int rank : {0, 1}) {
    CHECK(world.frames(rank, ControlFrame::PeerFailed).empty());
    const auto deaths = world.messages<wire::PeerDied>(rank, ControlFrame::PeerDied);
    REQUIRE(deaths.size() == 1);  // so that waits for it can end
    CHECK(deaths[0].rank == 2);
  }
  testing::run_for(stage.loop, std::chrono::milliseconds(100));  // longer than every grace
  CHECK(world.signals.empty());
  world.pass(0);
  world.pass(1);
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Pass);
  CHECK(record.ranks[2].declared_death);
}

TEST_CASE("a rank that leaves without a result is a crash, and a failed exit too") {
  const int code = GENERATE(0, 1, 3);
  Stage stage(2);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  world.end(0, ExitStatus::of_code(code));
  REQUIRE_FALSE(world.frames(1, ControlFrame::PeerFailed).empty());
  world.pass(1);
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Crash);
  CHECK(record.ranks[0].outcome == Outcome{OutcomeKind::Exited, code, ""});
}

TEST_CASE("a failed check is not reported to the other ranks while its body runs, and fails the test") {
  Stage stage(2);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  world.say(0, ControlFrame::Phase, wire::PhaseChange{wire::Phase::Body});
  world.say(0, ControlFrame::Error, wire::ErrorReport{"CheckFailed", "2 == 3", "ring.cpp", 7, "", false, -1});
  CHECK(world.frames(1, ControlFrame::PeerFailed).empty());
  world.pass(1);
  world.done(0, false);
  world.end(0, ExitStatus::of_code(10));
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Fail);
  CHECK(record.message == "rank 0 failed: 2 == 3 (ring.cpp:7)");
  CHECK(record.phase == wire::Phase::Body);  // it has gone on to its exit
}

TEST_CASE("ranks that cannot be started are an infra-error") {
  Stage stage;
  fake::World& world = stage.begin();
  SECTION("no rank was started") { world.events().on_spawn_failed("cannot fork rank 0"); }
  SECTION("some ranks were started, and are ended") {
    world.start(0);
    world.events().on_spawn_failed("cannot fork rank 0");
    CHECK(world.was_sent(0, SIGTERM));
    world.die(0, SIGTERM);
  }
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::InfraError);
  CHECK(record.message == "cannot fork rank 0");
}

TEST_CASE("ranks of another build are an infra-error") {
  Stage stage(1);
  fake::World& world = stage.begin();
  world.start(0);
  world.say(0, ControlFrame::Hello, wire::Hello{wire::kControlAbi + 1, 1});
  world.die(0, SIGTERM);
  CHECK(stage.finish().verdict == Verdict::InfraError);
  CHECK_THAT(stage.finish().message, Catch::Contains("they are from different builds"));
}

TEST_CASE("a late rank of a terminated attempt is killed when it starts") {
  Stage stage(2);
  fake::World& world = stage.begin();
  world.start(0);
  stage.attempt->cancel(Urgency::Polite);
  world.start(1);
  CHECK(world.signals_of(1).back() == SIGKILL);
  world.die(0, SIGTERM);
  world.die(1, SIGKILL);
  CHECK(stage.finish().verdict == Verdict::Cancelled);
}

TEST_CASE("a stopped attempt terminates its ranks, and kills them when it is urgent") {
  Stage stage(1);
  stage.graces.terminate = std::chrono::hours(1);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  stage.attempt->cancel(Urgency::Polite);
  CHECK(world.signals_of(0) == std::vector<int>{SIGTERM, SIGCONT});
  stage.attempt->cancel(Urgency::AtOnce);
  CHECK(world.signals_of(0).back() == SIGKILL);
  stage.attempt->cancel(Urgency::AtOnce);
  CHECK(world.signals.size() == 3);
  world.die(0, SIGKILL);
  CHECK(stage.finish().verdict == Verdict::Cancelled);
}

TEST_CASE("an attempt leaks if its ranks leave a process behind") {
  Stage stage(1);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  world.left = {{"4711 (sleep 100)"}};
  world.pass(0);
  SECTION("and names the process") {
    const AttemptRecord& record = stage.finish();
    CHECK(record.verdict == Verdict::Leak);
    CHECK(record.message == "left behind: process 4711 (sleep 100)");
  }
  SECTION("unless the leak check is off") {
    stage.settings.leaks_off = true;
    CHECK(stage.finish().verdict == Verdict::Pass);
  }
  CHECK(world.left.empty());
}

TEST_CASE("in a batch job, deaths by the job's signal wait for that to the run, and cancel the attempt then") {
  const bool is_cancelled = GENERATE(true, false);
  Stage stage(2);
  fake::World& world = stage.begin();
  stage.settings.in_job = true;
  world.start_and_greet_all();
  for (const int rank : {0, 1}) world.die(rank, SIGTERM);
  CHECK_FALSE(stage.is_over());
  if (is_cancelled) {
    stage.run_context->why_stopped = "node01 got signal 15 (SIGTERM) from Slurm";
    stage.attempt->cancel(Urgency::Polite);
  }
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == (is_cancelled ? Verdict::Cancelled : Verdict::Crash));
  if (is_cancelled) CHECK(record.message == "the run was cancelled: node01 got signal 15 (SIGTERM) from Slurm");
}

TEST_CASE("outside of a batch job, an attempt whose ranks die by SIGTERM is over at once") {
  Stage stage(2);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  for (const int rank : {0, 1}) world.die(rank, SIGTERM);
  CHECK(stage.is_over());
}
