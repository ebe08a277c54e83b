#include <catch2/catch.hpp>

#include <cmath>
#include <csignal>

#include "stage.hpp"

using namespace distrun;
using namespace distrun::runner;
using namespace std::chrono_literals;
using proc::ExitStatus;
using wire::ControlFrame;

TEST_CASE("a barrier opens for all ranks when the last one arrives") {
  Stage stage;
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  for (const int rank : {2, 0}) world.say(rank, ControlFrame::BarrierEnter, wire::BarrierEnter{"x"});
  CHECK(world.frames(0, ControlFrame::BarrierRelease).empty());
  world.say(1, ControlFrame::BarrierEnter, wire::BarrierEnter{"x"});
  for (int rank = 0; rank < 3; ++rank) {
    const auto releases = world.messages<wire::BarrierRelease>(rank, ControlFrame::BarrierRelease);
    REQUIRE(releases.size() == 1);
    CHECK(releases[0].name == "x");
    CHECK(releases[0].error.empty());
    world.pass(rank);
  }
  CHECK(stage.finish().verdict == Verdict::Pass);
}

TEST_CASE("a rank that finishes early releases those in a barrier, and is blamed for the consequences") {
  Stage stage(2);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  world.say(0, ControlFrame::BarrierEnter, wire::BarrierEnter{"x"});
  world.pass(1);
  const auto releases = world.messages<wire::BarrierRelease>(0, ControlFrame::BarrierRelease);
  REQUIRE(releases.size() == 1);
  CHECK(releases[0].because_of == 1);
  world.error(0, releases[0].error, 1);
  world.end(0, ExitStatus::of_code(10));
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Fail);
  CHECK(record.culprits == std::vector<int>{1});
  CHECK(record.message == "rank 1 finished without entering barrier \"x\"");
}

TEST_CASE("messages reach their rank, with the name of their real sender") {
  Stage stage(2);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  world.say(0, ControlFrame::Message, wire::RankMessage{77, 1, "token", "data"});
  const auto messages = world.messages<wire::RankMessage>(1, ControlFrame::Message);
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].from == 0);
  CHECK(messages[0].tag == "token");
  CHECK(messages[0].data == "data");
  world.pass(0);
  world.pass(1);
  CHECK(stage.finish().verdict == Verdict::Pass);
}

TEST_CASE("a rank gets its run order before any message that other ranks have sent to it") {
  Stage stage(2);
  fake::World& world = stage.begin();
  world.start_all();
  world.hello(0);
  world.say(0, ControlFrame::Message, wire::RankMessage{0, 1, "early", ""});
  CHECK(world.frames(1, ControlFrame::Message).empty());
  world.hello(1);
  CHECK(world.sent_kinds == std::vector<ControlFrame>{ControlFrame::Run, ControlFrame::Run, ControlFrame::Message});
  world.pass(0);
  world.pass(1);
  CHECK(stage.finish().verdict == Verdict::Pass);
}

TEST_CASE("a rank that waits for a finished rank is notified") {
  Stage stage(2);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  SECTION("before") {
    world.say(0, ControlFrame::ReceiveWait, wire::ReceiveWait{1, "token"});
    world.pass(1);
  }
  SECTION("after") {
    world.pass(1);
    world.say(0, ControlFrame::ReceiveWait, wire::ReceiveWait{1, "token"});
  }
  const auto news = world.messages<wire::PeerFinished>(0, ControlFrame::PeerFinished);
  REQUIRE(news.size() == 1);
  CHECK(news[0].rank == 1);
  world.pass(0);
  CHECK(stage.finish().verdict == Verdict::Pass);
}

TEST_CASE("a rank that sends an invalid message is lost") {
  Stage stage(2);
  stage.graces.connection = 1h;  // invalid messages need no grace
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  SECTION("bytes that do not decode") { world.events().on_frame(0, {ControlFrame::Done, 0, wire::Bytes(3)}); }
  SECTION("a kind that only the coordinator sends") { world.say(0, ControlFrame::Finish, wire::Done{}); }
  SECTION("an unknown phase") { world.say(0, ControlFrame::Phase, wire::PhaseChange{wire::Phase(9)}); }
  SECTION("a message to an unknown rank") { world.say(0, ControlFrame::Message, wire::RankMessage{0, 2, "x", ""}); }
  REQUIRE(stage.until([&] { return !world.frames(1, ControlFrame::PeerFailed).empty(); }));
  world.pass(1);
  world.die(0, SIGTERM);
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Crash);
  CHECK(record.ranks[0].outcome.kind == OutcomeKind::Lost);
  CHECK_THAT(record.message, Catch::StartsWith("rank 0 was lost: it sent an invalid message: "));
}

TEST_CASE("a connection that closes is a lost rank only if the rank lives on") {
  Stage stage(2);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  const auto closed = fake::Clock::now();
  world.events().on_connection_lost(0, "closed");
  SECTION("it dies in time") {
    world.die(0, SIGSEGV);
    world.pass(1);
    CHECK(stage.finish().ranks[0].outcome == Outcome{OutcomeKind::Signaled, SIGSEGV, ""});
  }
  SECTION("it lives on") {
    REQUIRE(stage.until([&] { return !world.frames(1, ControlFrame::PeerFailed).empty(); }));
    CHECK(fake::Clock::now() - closed >= stage.graces.connection);
    world.pass(1);
    world.die(0, SIGTERM);
    CHECK(stage.finish().ranks[0].outcome.kind == OutcomeKind::Lost);
    CHECK_THAT(stage.finish().message, Catch::Contains("it closed its connection to distrun but kept running"));
  }
  CHECK(stage.finish().verdict == Verdict::Crash);
}

TEST_CASE("a rank that has reported its result may close its connection") {
  Stage stage(1);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  world.done(0);
  world.events().on_connection_lost(0, "closed");
  testing::run_for(stage.loop, 60ms);
  world.end(0);
  CHECK(stage.finish().verdict == Verdict::Pass);
}

TEST_CASE("a rank that does not read is lost") {
  Stage stage(2);
  fake::World& world = stage.begin();
  world.start_all();
  world.deaf = true;
  world.hello(0);
  world.deaf = false;
  world.hello(1);
  REQUIRE(stage.until([&] { return !world.frames(1, ControlFrame::PeerFailed).empty(); }));
  world.pass(1);
  world.die(0, SIGKILL);
  CHECK(stage.finish().ranks[0].outcome.kind == OutcomeKind::Lost);
}

TEST_CASE("a message that cannot be delivered is reported as an error of its sender, which continues") {
  Stage stage(2);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  world.deaf = true;
  world.say(0, ControlFrame::Message, wire::RankMessage{0, 1, "token", "data"});
  world.deaf = false;
  REQUIRE(stage.told.count("rank error 0 a message \"token\" to rank 1 was dropped") == 1);
  world.pass(0);
  world.pass(1);
  CHECK(stage.finish().verdict == Verdict::Fail);
}

TEST_CASE("notes and names of measured values that are too large together are dropped") {
  Stage stage(1);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  const std::string large(std::size_t{1} << 20, 'x');
  for (int i = 0; i < 3; ++i) world.say(0, ControlFrame::Note, wire::Note{"", large});
  for (int i = 0; i < 3; ++i) world.say(0, ControlFrame::Measure, wire::Measure{large, 1, ""});
  world.say(0, ControlFrame::Note, wire::Note{"", ""});
  world.pass(0);
  const AttemptRecord& record = stage.finish();
  CHECK(record.ranks[0].notes.size() == 4);
  CHECK(record.ranks[0].measures.size() == 1);
}

TEST_CASE("notes, measured values and errors are kept within their limits") {
  Stage stage(1);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  for (int i = 0; i < 1500; ++i) world.say(0, ControlFrame::Note, wire::Note{"key", std::to_string(i)});
  for (int i = 0; i < 1500; ++i) {
    world.say(0, ControlFrame::Measure, wire::Measure{"step", i % 2 == 0 ? i : std::nan(""), "ms"});
  }
  for (int i = 0; i < 800; ++i) world.say(0, ControlFrame::Measure, wire::Measure{"step", -1, "ms"});
  for (int i = 0; i < 150; ++i) {
    world.say(0, ControlFrame::Error, wire::ErrorReport{"CheckFailed", std::to_string(i), "", 0, "", false, -1});
  }
  world.error(0, "the last one");
  world.end(0, ExitStatus::of_code(10));
  const AttemptRecord& record = stage.finish();
  CHECK(record.ranks[0].notes.size() == 1000);
  CHECK(record.ranks[0].measures.size() == 1000);
  CHECK(record.ranks[0].measures[749] == wire::Measure{"step", 1498, "ms"});  // what is no number is dropped
  CHECK(record.ranks[0].measures[750] == wire::Measure{"step", -1, "ms"});
  CHECK(record.ranks[0].errors.size() == 101);
  CHECK(record.ranks[0].errors.front().text == "0");
  CHECK(record.ranks[0].errors.back().text == "the last one");
  CHECK_THAT(record.message, Catch::Contains("the last one"));
}

TEST_CASE("a reported skip is a skip, with its reason") {
  Stage stage(2);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  for (const int rank : {0, 1}) {
    world.say(rank, ControlFrame::Skip, wire::SkipReport{86, "no network"});
    world.done(rank, false);
    world.end(rank, ExitStatus::of_code(86));
  }
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Skip);
  CHECK(record.message == "no network");
}

TEST_CASE("an error that follows from another follow-up error names the last of them") {
  Stage stage(3);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  world.error(2, "token is lost");
  world.error(1, "rank 2 failed", 2);
  world.error(0, "rank 1 failed", 1);
  for (int rank = 0; rank < 3; ++rank) world.end(rank, ExitStatus::of_code(10));
  const AttemptRecord& record = stage.finish();
  CHECK(record.culprits == std::vector<int>{2});
  CHECK(record.ranks[0].because_of == 2);
}
