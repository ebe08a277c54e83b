// Several tests at the same time.
#include <catch2/catch.hpp>

#include <csignal>
#include <fstream>

#include "run_stage.hpp"

using namespace distrun;
using namespace distrun::runner;

namespace {

// A run of tests with two ranks each, in worlds that only the test controls.
struct JobsShow : RunStage {
  JobsShow(const Names& tests, int jobs) {
    settings.jobs = jobs;
    for (const std::string& name : tests) add("Ring", name);
    node.script = [this](fake::World& world) {
      world.start_and_greet_all();
      ++begun;
    };
  }
  void begin(std::size_t running) {
    make();
    boost::asio::co_spawn(loop.context(), run->run(), [this](const std::exception_ptr& error) {
      if (error) std::rethrow_exception(error);
      over = true;
    });
    REQUIRE(testing::run_until(loop, [&] { return begun == running; }));
    testing::run_ready(loop);
    REQUIRE(begun == running);  // no more than that
  }
  void pass(std::size_t world) {
    node.worlds[world]->pass(0);
    node.worlds[world]->pass(1);
  }
  const RunRecord& finish() {
    REQUIRE(testing::run_until(loop, [&] { return over; }));
    return run->record();
  }

  std::size_t begun = 0;  // worlds with existing ranks
  bool over = false;
};

}  // namespace

TEST_CASE("as many tests run concurrently as there are jobs, and the next begins when one ends") {
  JobsShow show({"a", "b", "c"}, 2);
  show.begin(2);
  CHECK(show.told.count("test start") == 2);
  CHECK(show.run->status().tests.size() == 2);
  show.pass(1);
  REQUIRE(testing::run_until(show.loop, [&] { return show.begun == 3; }));
  CHECK(show.told.count("test end pass") == 1);
  show.pass(2);
  show.pass(0);
  const RunRecord& record = show.finish();
  CHECK(record.total(Verdict::Pass) == 3);
  CHECK(exit_code_of(record) == 0);
}

TEST_CASE("tests are in the record in the order of the run, not of their ends") {
  JobsShow show({"a", "b"}, 2);
  show.begin(2);
  show.pass(1);
  REQUIRE(testing::run_until(show.loop, [&] { return show.told.count("test end") == 1; }));
  show.pass(0);
  const RunRecord& record = show.finish();
  REQUIRE(record.tests.size() == 2);
  CHECK(record.tests[0].info.name == "a");
  CHECK(record.tests[1].info.name == "b");
}

TEST_CASE("a plugin is released after the last of its tests, not while others run") {
  JobsShow show({"a", "b"}, 2);
  show.begin(2);
  show.pass(1);
  REQUIRE(testing::run_until(show.loop, [&] { return show.told.count("test end") == 1; }));
  CHECK(show.node.released.empty());
  show.pass(0);
  show.finish();
  CHECK(show.node.released == Names{"ring.so"});
}

TEST_CASE("after a failure with fail-fast, running tests finish and no other begins") {
  JobsShow show({"a", "b", "c", "d"}, 2);
  show.settings.fail_fast = true;
  show.begin(2);
  show.node.worlds[0]->error(0, "token is lost");
  show.node.worlds[0]->end(0, proc::ExitStatus::of_code(10));
  show.node.worlds[0]->pass(1);
  REQUIRE(testing::run_until(show.loop, [&] { return show.told.count("test end fail") == 1; }));
  show.pass(1);
  const RunRecord& record = show.finish();
  CHECK(record.tests.size() == 2);
  CHECK(record.not_run == 2);
}

TEST_CASE("a cancelled run cancels every test that runs") {
  JobsShow show({"a", "b", "c"}, 2);
  show.begin(2);
  show.run->cancel(Urgency::Polite);
  for (const auto& world : show.node.worlds) {
    CHECK(world->was_sent(0, SIGTERM));
    world->die(0, SIGTERM);
    world->die(1, SIGTERM);
  }
  const RunRecord& record = show.finish();
  CHECK(record.total(Verdict::Cancelled) == 2);
  CHECK(exit_code_of(record) == 130);
}

TEST_CASE("a snapshot is taken of every running test") {
  JobsShow show({"a", "b"}, 2);
  show.begin(2);
  Names looked;
  CHECK(show.run->take_snapshot_now([&](const std::string& test, const Snapshot&) { looked.push_back(test); }) == 2);
  REQUIRE(testing::run_until(show.loop, [&] { return looked.size() == 2; }));
  show.pass(0);
  show.pass(1);
  show.finish();
}

TEST_CASE("a name with the run's id that one of several tests left is a problem of the run, which names them") {
  JobsShow show({"a", "b"}, 2);
  show.begin(2);
  std::ofstream(show.places.temp_dir + "/left-" + show.places.run_id) << "here";
  show.pass(0);
  show.pass(1);
  const RunRecord& record = show.finish();
  CHECK(record.total(Verdict::Pass) == 2);
  REQUIRE(record.problems.size() == 1);
  CHECK(record.problems[0].phase == "left behind");
  CHECK_THAT(record.problems[0].text, Catch::Contains("/left") && Catch::Contains("Ring.a, Ring.b"));
  CHECK(exit_code_of(record) == 3);
}

TEST_CASE("near the end of its machines' time a run says so, begins no test, and cancels what still runs in time") {
  JobsShow show({"a", "b"}, 1);
  show.begin(1);
  show.run->outside_limit().set(show.loop.clock().now() + OutsideLimit::kReserve + std::chrono::milliseconds(200),
                                "the lease");
  REQUIRE(testing::run_until(show.loop, [&] { return show.node.worlds[0]->was_sent(0, SIGTERM); }));
  show.node.worlds[0]->die(0, SIGTERM);
  show.node.worlds[0]->die(1, SIGTERM);
  const RunRecord& record = show.finish();
  REQUIRE(record.tests.size() == 1);
  CHECK(record.tests[0].verdict == Verdict::Cancelled);
  CHECK(record.tests[0].message == "the run was cancelled: the lease ends in 10 s");
  CHECK(record.not_run == 1);
  CHECK(record.notices == Names{"the lease ends in 11 s: no further test or attempt begins, and what still runs in 1 s "
                                "is cancelled"});
  CHECK(show.told.count("notice the lease ends in 11 s") == 1);
  REQUIRE(record.problems.size() == 1);
  CHECK(record.problems[0].text == "the lease has ended it early; 1 of 2 tests have been run");
  CHECK(exit_code_of(record) == 3);
}

TEST_CASE("a run that ends before its machines' time does is whole") {
  JobsShow show({"a"}, 1);
  show.begin(1);
  show.run->outside_limit().set(show.loop.clock().now() + std::chrono::seconds(20), "the lease");
  REQUIRE(testing::run_until(show.loop, [&] { return show.told.count("notice") == 1; }));
  show.pass(0);
  const RunRecord& record = show.finish();
  CHECK(record.problems.empty());
  CHECK(exit_code_of(record) == 0);
}

TEST_CASE("neither retries nor repeats begin near the end of the machines' time") {
  const bool repeats = GENERATE(false, true);
  JobsShow show({"a"}, 1);
  (repeats ? show.settings.repeat : show.settings.retries) = 3;
  show.begin(1);
  show.run->outside_limit().set(show.loop.clock().now() + std::chrono::seconds(20), "the lease");
  REQUIRE(testing::run_until(show.loop, [&] { return show.told.count("notice") == 1; }));
  if (repeats) {
    show.pass(0);
  } else {
    show.node.worlds[0]->error(0, "token is lost");
    show.node.worlds[0]->end(0, proc::ExitStatus::of_code(10));
    show.node.worlds[0]->pass(1);
  }
  const RunRecord& record = show.finish();
  CHECK(record.tests.at(0).attempts.size() == 1);
  CHECK(record.problems.size() == (repeats ? 1 : 0));  // fewer repeats than were asked for
}
