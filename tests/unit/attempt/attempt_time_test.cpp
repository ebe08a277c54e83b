#include <catch2/catch.hpp>

#include <csignal>

#include "stage.hpp"

using namespace distrun;
using namespace distrun::runner;
using namespace std::chrono_literals;
using proc::ExitStatus;
using wire::ControlFrame;
using wire::Phase;

TEST_CASE("a body that runs past its bound is a timeout, and not earlier") {
  Stage stage(2);
  stage.settings.timeout = 50ms;
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  const auto began = fake::Clock::now();
  REQUIRE(stage.until([&] { return world.was_sent(0, SIGTERM) && world.was_sent(1, SIGTERM); }));
  CHECK(fake::Clock::now() - began >= 50ms);
  world.die(0, SIGTERM);
  world.die(1, SIGTERM);
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Timeout);
  CHECK(record.culprits == std::vector<int>{0, 1});
  CHECK(record.phase == Phase::Body);
  CHECK_THAT(record.message, Catch::StartsWith("rank 0 timed out after 50.0 ms in the test body"));
}

TEST_CASE("a bound excludes the time for which a rank had no CPU, and the report says so") {
  Stage stage(2);
  stage.settings.timeout = 50ms;
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  const auto began = fake::Clock::now();
  world.cpu_waits[1] = 40ms;  // rank 0 may wait for it: both get more time
  REQUIRE(stage.until([&] { return world.was_sent(0, SIGTERM) && world.was_sent(1, SIGTERM); }));
  CHECK(fake::Clock::now() - began >= 90ms);
  world.die(0, SIGTERM);
  world.die(1, SIGTERM);
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Timeout);
  CHECK_THAT(
      record.message,
      Catch::StartsWith(
          "rank 0 timed out after 50.0 ms, extended by 40.0 ms because ranks waited for a CPU, in the test body"));
}

TEST_CASE("a rank that never gets a CPU still times out, and short waits for a CPU change no bound") {
  const bool starves = GENERATE(true, false);
  Stage stage(1);
  stage.settings.timeout = 50ms;
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  const auto began = fake::Clock::now();
  REQUIRE(stage.until([&] {
    const auto passed = fake::Clock::now() - began;
    world.cpu_waits[0] = starves ? passed : passed / 20;
    return world.was_sent(0, SIGTERM);
  }));
  world.die(0, SIGTERM);
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Timeout);
  const std::string extended = starves ? "rank 0 timed out after 50.0 ms, extended by 150.0 ms"
                                       : "rank 0 timed out after 50.0 ms in the test body";
  CHECK_THAT(record.message, Catch::StartsWith(extended));
}

TEST_CASE("the grace after a failure excludes the time for which a rank had no CPU") {
  Stage stage(2);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  world.error(1, "token is lost");
  world.end(1, ExitStatus::of_code(10));
  const auto failed = fake::Clock::now();
  world.cpu_waits[0] = 2 * stage.graces.peers;
  REQUIRE(stage.until([&] { return world.was_sent(0, SIGTERM); }));
  CHECK(fake::Clock::now() - failed >= 2 * stage.graces.peers);
  world.die(0, SIGTERM);
  CHECK(stage.finish().verdict == Verdict::Fail);
}

TEST_CASE("each phase has its own bound, which starts when the rank says so") {
  Stage stage(1);
  stage.test.info.has_fixture = true;
  stage.settings.timeout_scale = 0.001;  // set-up 60 ms, body 100 ms, tear-down 60 ms, exit 5 ms
  const Phase phase = GENERATE(Phase::SetUp, Phase::Body, Phase::TearDown);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  const auto began = fake::Clock::now();
  world.say(0, ControlFrame::Phase, wire::PhaseChange{phase});
  REQUIRE(stage.until([&] { return world.was_sent(0, SIGTERM); }));
  CHECK(fake::Clock::now() - began >= bound_of(phase, stage.test.info, stage.settings));
  world.die(0, SIGTERM);
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Timeout);
  CHECK(record.phase == phase);
  CHECK(record.ranks[0].phase == phase);
}

TEST_CASE("a rank that has reported its result and does not exit is a timeout in exit") {
  Stage stage(1);
  stage.settings.timeout_scale = 0.01;  // exit 50 ms
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  world.done(0);
  REQUIRE(stage.until([&] { return world.was_sent(0, SIGTERM); }));
  world.die(0, SIGTERM);
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Timeout);
  CHECK(record.phase == Phase::Exit);
}

TEST_CASE("an exec rank that does not finish loading is a timeout in load") {
  Stage stage(1);
  stage.test.variant.isolation = Isolation::Exec;
  stage.settings.timeout_scale = 0.001;  // load 30 ms
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  REQUIRE(stage.until([&] { return world.was_sent(0, SIGTERM); }));
  world.die(0, SIGTERM);
  CHECK(stage.finish().verdict == Verdict::Timeout);
  CHECK(stage.finish().phase == Phase::Load);
}

TEST_CASE("ranks that do not start in time are an infra-error") {
  Stage stage(3);
  stage.settings.timeout_scale = 0.005;  // spawn 50 ms
  fake::World& world = stage.begin();
  world.start(0);
  REQUIRE(stage.until([&] { return world.was_sent(0, SIGTERM); }));
  world.die(0, SIGTERM);
  const AttemptRecord& record = stage.finish();  // although two ranks may still start
  CHECK(record.verdict == Verdict::InfraError);
  CHECK(record.message == "2 ranks did not start within 50.0 ms");
}

TEST_CASE("a rank that starts and sends nothing is a timeout in spawn") {
  Stage stage(1);
  stage.settings.timeout_scale = 0.005;
  fake::World& world = stage.begin();
  world.start_all();
  REQUIRE(stage.until([&] { return world.was_sent(0, SIGTERM); }));
  world.die(0, SIGTERM);
  CHECK(stage.finish().verdict == Verdict::Timeout);
  CHECK(stage.finish().phase == Phase::Spawn);
}

TEST_CASE("ranks with time left get a grace when another rank times out") {
  Stage stage(2);
  stage.settings.timeout = 50ms;
  stage.test.info.has_fixture = true;
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  world.say(1, ControlFrame::Phase, wire::PhaseChange{Phase::SetUp});  // has a minute
  world.say(0, ControlFrame::Phase, wire::PhaseChange{Phase::Body});
  REQUIRE(stage.until([&] { return !world.frames(1, ControlFrame::PeerFailed).empty(); }));
  CHECK(world.signals.empty());
  CHECK(world.messages<wire::PeerFailed>(1, ControlFrame::PeerFailed)[0].rank == 0);
  world.pass(1);
  REQUIRE(stage.until([&] { return world.was_sent(0, SIGTERM); }));
  world.die(0, SIGTERM);
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Timeout);
  CHECK(record.culprits == std::vector<int>{0});
  CHECK(record.ranks[1].outcome.kind == OutcomeKind::Passed);
}

TEST_CASE("ranks that waited in a barrier for a rank that timed out are not blamed") {
  Stage stage(3);
  stage.settings.timeout = 50ms;
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  for (const int rank : {0, 1}) world.say(rank, ControlFrame::BarrierEnter, wire::BarrierEnter{"x"});
  REQUIRE(stage.until([&] { return world.was_sent(2, SIGTERM); }));
  for (int rank = 0; rank < 3; ++rank) world.die(rank, SIGTERM);
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Timeout);
  CHECK(record.culprits == std::vector<int>{2});
  CHECK(record.ranks[0].waiting_in == "barrier \"x\"");
  CHECK_THAT(record.message, Catch::EndsWith("; ranks 0-1 waited in barrier \"x\""));
}

TEST_CASE("a rank that reached its body a little later is still the culprit, and had its whole time") {
  Stage stage(2);
  stage.settings.timeout = 400ms;
  fake::World& world = stage.begin();
  world.start(0);
  world.start(1);
  world.hello(0);
  world.say(0, ControlFrame::Phase, wire::PhaseChange{Phase::Body});
  world.say(0, ControlFrame::BarrierEnter, wire::BarrierEnter{"x"});
  const auto began = fake::Clock::now();
  stage.until([&] { return fake::Clock::now() - began >= 40ms; });
  world.hello(1);
  world.say(1, ControlFrame::Phase, wire::PhaseChange{Phase::Body});
  const auto followed = fake::Clock::now();
  REQUIRE(stage.until([&] { return world.was_sent(1, SIGTERM); }));
  CHECK(fake::Clock::now() - followed >= 400ms);
  world.die(0, SIGTERM);
  world.die(1, SIGTERM);
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Timeout);
  CHECK(record.culprits == std::vector<int>{1});
  CHECK(record.ranks[1].outcome.kind == OutcomeKind::TimedOut);
}

TEST_CASE("a failure in time is no timeout, although its ranks stay past their bound") {
  Stage stage(2);
  stage.settings.timeout = 60ms;
  stage.graces.peers = 200ms;
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  world.error(0, "token is lost");
  REQUIRE(stage.until([&] { return world.was_sent(1, SIGTERM); }));
  world.die(0, SIGTERM);
  world.die(1, SIGTERM);
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Fail);
  CHECK(record.ranks[0].outcome.kind == OutcomeKind::Failed);
  CHECK(record.ranks[1].outcome.kind == OutcomeKind::KilledByUs);
}
