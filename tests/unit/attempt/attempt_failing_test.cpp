#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <csignal>

#include "stage.hpp"

using namespace distrun;
using namespace distrun::runner;
using proc::ExitStatus;
using wire::ControlFrame;

namespace {

// A process that has ended, without a report of its end so far.
class Ending {
 public:
  Ending() : pid_(::fork()) {
    if (pid_ == 0) ::_exit(0);
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  ~Ending() { ::waitpid(pid_, nullptr, 0); }
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;
  int pid() const noexcept { return pid_; }

 private:
  const int pid_;
};

// Starts an attempt in which rank 1 is the process that has ended.
fake::World& begin_with(Stage& stage, const Ending& ending) {
  fake::World& world = stage.begin();
  for (int rank = 0; rank < world.spec().world_size; ++rank) {
    world.start(rank, rank == 1 ? ending.pid() : ::getpid());
    world.hello(rank);
  }
  return world;
}

std::vector<wire::PeerFailed> news_of(const fake::World& world, int rank) {
  return world.messages<wire::PeerFailed>(rank, ControlFrame::PeerFailed);
}

}  // namespace

TEST_CASE("a rank is blamed before the ranks that noticed its death, even if the kernel reports the death late") {
  const Ending ending;
  Stage stage;
  fake::World& world = begin_with(stage, ending);
  world.error(2, "worker1 is gone");
  world.error(0, "worker1 is gone");
  CHECK(news_of(world, 0).empty());
  world.die(1, SIGKILL);
  REQUIRE(news_of(world, 0).size() >= 1);
  CHECK(news_of(world, 0)[0].rank == 1);
  CHECK(news_of(world, 0)[0].text == "killed by signal 9 (SIGKILL)");
  for (const int rank : {0, 2}) world.end(rank, ExitStatus::of_code(10));
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Crash);
  CHECK(record.culprits == std::vector<int>{1});
  CHECK(record.message == "rank 1 was killed by signal 9 (SIGKILL) in the test body");
}

TEST_CASE("a named rank that only exits as expected delays the end of the test only briefly") {
  const Ending ending;
  Stage stage;
  fake::World& world = begin_with(stage, ending);
  world.error(2, "token is lost");
  world.done(1);
  REQUIRE(news_of(world, 0).size() == 1);
  CHECK(news_of(world, 0)[0].rank == 2);
  world.error(0, "rank 2 has failed", 2);  // an exit with code 10 alone would be a separate failure
  for (const int rank : {0, 1, 2}) world.end(rank, ExitStatus::of_code(rank == 1 ? 0 : 10));
  CHECK(stage.finish().culprits == std::vector<int>{2});
}

TEST_CASE("a rank that dies after it has reported its result is not blamed before one that has failed") {
  const Ending ending;
  Stage stage;
  fake::World& world = begin_with(stage, ending);
  world.done(1);
  world.error(2, "token is lost");
  world.die(1, SIGSEGV);
  REQUIRE(stage.until([&] { return !news_of(world, 0).empty(); }));
  world.error(0, "rank 2 has failed", 2);
  for (const int rank : {0, 2}) world.end(rank, ExitStatus::of_code(10));
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Fail);
  CHECK(record.culprits == std::vector<int>{2});
}

TEST_CASE("the rank that an error names comes first, by its death or by its own error") {
  Stage stage;
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  world.error(0, "worker1 has left", 1);
  CHECK(news_of(world, 2).empty());
  SECTION("by a death") {
    world.end(1, ExitStatus::of_code(3));
    CHECK(news_of(world, 2).at(0).text == "exited with code 3 without a result");
  }
  SECTION("by an error") {
    world.error(1, "token is lost");
    CHECK(news_of(world, 2).at(0).text == "token is lost");
    world.end(1, ExitStatus::of_code(10));
  }
  CHECK(news_of(world, 2).at(0).rank == 1);
  for (const int rank : {0, 2}) world.end(rank, ExitStatus::of_code(10));
  const AttemptRecord& record = stage.finish();
  CHECK(record.culprits.front() == 1);
  CHECK(record.ranks[0].because_of == 1);
}

TEST_CASE("a rank that an error names and that continues is not waited for") {
  Stage stage;
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  world.error(0, "worker1 is gone", 1);
  REQUIRE(stage.until([&] { return !news_of(world, 2).empty(); }));
  CHECK(news_of(world, 2)[0].rank == 0);
  for (const int rank : {0, 1, 2}) world.pass(rank);
  CHECK(stage.finish().verdict == Verdict::Fail);
}

TEST_CASE("errors that name each other's ranks lead to the one cause, in any order of arrival") {
  Stage stage;
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  const bool is_leader_first = GENERATE(true, false);
  const auto leader = [&] { world.error(0, "worker1 is gone", 1); };
  const auto follower = [&] { world.error(2, "worker0 has left: worker1 is gone", 0); };
  if (is_leader_first) leader(), follower();
  if (!is_leader_first) follower(), leader();
  world.error(1, "token is lost");
  for (const int rank : {0, 1, 2}) world.end(rank, ExitStatus::of_code(10));
  const AttemptRecord& record = stage.finish();
  CHECK(record.message == "rank 1 failed: token is lost (ring.cpp:41)");
  CHECK(record.culprits == std::vector<int>{1});
  CHECK(record.ranks[0].because_of == 1);
  CHECK(record.ranks[2].because_of == 1);
}

TEST_CASE("if ranks only name each other, one is still blamed") {
  Stage stage(2);
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  world.error(0, "worker1 is gone", 1);
  world.error(1, "worker0 is gone", 0);
  for (const int rank : {0, 1}) world.end(rank, ExitStatus::of_code(10));
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Fail);
  CHECK(record.culprits == std::vector<int>{0, 1});
}

TEST_CASE("a program that was killed is blamed before those that exited after it") {
  const Ending ending;
  Stage stage;
  stage.test.variant.isolation = Isolation::Program;
  fake::World& world = stage.begin();
  for (int rank = 0; rank < 3; ++rank) {
    world.start(rank, rank == 1 ? ending.pid() : ::getpid());
    world.events().on_program(rank);
  }
  world.end(2, ExitStatus::of_code(1));
  world.end(0, ExitStatus::of_code(1));
  world.die(1, SIGKILL);
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Crash);
  CHECK(record.culprits == std::vector<int>{1});
  CHECK(record.message == "rank 1 was killed by signal 9 (SIGKILL) in the test body");
}

TEST_CASE("a program that is killed long after another has failed is not blamed") {
  Stage stage(2);
  stage.test.variant.isolation = Isolation::Program;
  fake::World& world = stage.begin();
  for (int rank = 0; rank < 2; ++rank) {
    world.start(rank, ::getpid());
    world.events().on_program(rank);
  }
  world.end(0, ExitStatus::of_code(1));
  world.die(1, SIGABRT);
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Fail);
  CHECK(record.culprits == std::vector<int>{0});
}

TEST_CASE("ranks on other hosts are named with their host, in records and messages") {
  Stage stage(3);
  stage.node.host_of = {"node01", "node01", "node02"};
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  SECTION("one is killed") {
    world.die(2, SIGKILL);
    world.pass(0);
    world.pass(1);
    const AttemptRecord& record = stage.finish();
    CHECK_THAT(record.message, Catch::StartsWith("rank 2 on node02 was killed by signal 9 (SIGKILL) in "));
    CHECK(record.ranks[2].host == "node02");
    CHECK(record.ranks[0].host == "node01");
  }
  SECTION("one leaves before a barrier of the others") {
    world.say(0, wire::ControlFrame::BarrierEnter, wire::BarrierEnter{"meet"});
    world.pass(2);
    REQUIRE(stage.until(
        [&] { return !world.messages<wire::BarrierRelease>(0, wire::ControlFrame::BarrierRelease).empty(); }));
    CHECK(world.messages<wire::BarrierRelease>(0, wire::ControlFrame::BarrierRelease).front().error ==
          "rank 2 on node02 finished without entering barrier \"meet\"");
    world.pass(0);
    world.pass(1);
    stage.finish();
  }
}

TEST_CASE("failures on two hosts that their clocks cannot order happened at the same time, in any order of the news") {
  using std::chrono::microseconds;
  const int later_by_us = GENERATE(100, 400);
  Stage stage(2);
  stage.node.host_of = {"node01", "node02"};
  fake::World& world = stage.begin();
  world.start_and_greet_all();
  const base::TimePoint moment = stage.loop.clock().now();
  world.seen[0] = {moment, microseconds(100)};
  world.seen[1] = {moment + microseconds(later_by_us), microseconds(200)};
  world.error(1, "no answer");
  world.error(0, "token is lost");
  for (const int rank : {0, 1}) world.end(rank, proc::ExitStatus::of_code(10));
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Fail);
  if (later_by_us == 100) {
    CHECK(record.culprits == std::vector{0, 1});
    CHECK(record.message ==
          "rank 0 on node01 failed: token is lost (ring.cpp:41); at the same time (within 300 us, the error of their "
          "clocks) rank 1 on node02 failed: no answer (ring.cpp:41)");
  } else {
    CHECK(record.message == "rank 0 on node01 failed: token is lost (ring.cpp:41); so did rank 1 on node02");
  }
}
