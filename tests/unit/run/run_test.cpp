#include <catch2/catch.hpp>

#include <csignal>
#include <set>

#include "run_stage.hpp"

using namespace distrun;
using namespace distrun::runner;
using proc::ExitStatus;

namespace {

// A run of one plugin, "ring.so", with tests of two ranks each.
struct RunShow : RunStage {
  explicit RunShow(const std::vector<std::string>& tests) {
    for (const std::string& name : tests) add("Ring", name);
    node.script = [](fake::World& world) {
      world.start_and_greet_all();
      world.pass(0);
      world.pass(1);
    };
  }
};

void fail_all(fake::World& world) {
  world.start_and_greet_all();
  world.error(0, "token is lost");
  world.end(0, ExitStatus::of_code(10));
  world.pass(1);
}

}  // namespace

TEST_CASE("a run runs its tests in order and reports everything in one order") {
  RunShow show({"a", "b"});
  const RunRecord& record = show.play();
  CHECK(show.verdicts() == Names{"pass", "pass"});
  CHECK(exit_code_of(record) == 0);
  CHECK(record.not_run == 0);
  CHECK(record.total(Verdict::Pass) == 2);
  const Names start{"run start 2", "test start Ring.a", "attempt start 1", "rank start 0"};
  REQUIRE(show.told.lines.size() > start.size());
  CHECK(std::equal(start.begin(), start.end(), show.told.lines.begin()));
  CHECK(show.told.lines.back() == "test end pass");
  CHECK(show.node.released == Names{"ring.so"});
}

TEST_CASE("the time of a pause is not part of any duration") {
  using std::chrono::milliseconds;
  RunShow show({"a", "b"});
  const auto pass = show.node.script;
  std::optional<io::Alarm> alarm;
  show.node.script = [&](fake::World& world) {
    if (show.node.spawned == 2) return pass(world);
    show.run->pause();
    alarm.emplace(show.loop, [&] {
      show.run->resume();
      show.run->resume();  // changes nothing
      pass(*show.node.world);
    });
    alarm->set(fake::Clock::now() + milliseconds(200));
  };
  const auto begun = fake::Clock::now();
  const RunRecord& record = show.play();
  const auto active = fake::Clock::now() - begun - milliseconds(200);
  CHECK(show.verdicts() == Names{"pass", "pass"});
  CHECK(record.duration < active);
  CHECK(record.tests[0].duration < active);
  CHECK(record.tests[0].attempts[0].duration < active);
  CHECK(record.tests[0].duration + record.tests[1].duration <= record.duration);
}

TEST_CASE("a filter selects the tests of a run") {
  RunShow show({"a", "b", "c"});
  show.settings.filters = {"Ring.b"};
  CHECK(show.play().tests.size() == 1);
  CHECK(show.told.lines.front() == "run start 1");
}

TEST_CASE("a failed test is retried until it passes, and is flaky then") {
  RunShow show({"a"});
  show.settings.retries = 5;
  const auto pass = show.node.script;
  show.node.script = [&, n = 0](fake::World& world) mutable { ++n < 3 ? fail_all(world) : pass(world); };
  const RunRecord& record = show.play();
  CHECK(show.verdicts() == Names{"flaky"});
  REQUIRE(record.tests[0].attempts.size() == 3);
  CHECK(record.tests[0].attempts[2].kind == AttemptKind::Retry);
  CHECK(record.tests[0].attempts[2].n == 3);
  CHECK(record.tests[0].message == "rank 0 failed: token is lost (ring.cpp:41)");
  CHECK(exit_code_of(record) == 0);
}

TEST_CASE("a test that fails in every retry has failed") {
  RunShow show({"a"});
  show.settings.retries = 2;
  show.node.script = fail_all;
  CHECK(exit_code_of(show.play()) == 1);
  CHECK(show.verdicts() == Names{"fail"});
  CHECK(show.node.spawned == 3);
}

TEST_CASE("a failed test is retried only after the verdicts that were asked for") {
  RunShow show({"a"});
  show.settings.retries = 2;
  show.node.script = fail_all;
  SECTION("this one") {
    show.settings.retry_on = {"crash", "fail"};
    show.play();
    CHECK(show.node.spawned == 3);
  }
  SECTION("others") {
    show.settings.retry_on = {"crash", "timeout"};
    show.play();
    CHECK(show.node.spawned == 1);
  }
  CHECK(show.verdicts() == Names{"fail"});
}

TEST_CASE("an override sets the retries of some tests") {
  RunShow show({"a", "b"});
  show.settings.retries = 1;
  runner::Override changes;
  changes.filter = "Ring.b";
  changes.retries = 3;
  show.settings.overrides = {changes};
  show.node.script = fail_all;
  const RunRecord& record = show.play();
  CHECK(record.tests[0].attempts.size() == 2);
  CHECK(record.tests[1].attempts.size() == 4);
}

TEST_CASE("a repeated test runs N times, and one bad repeat fails it") {
  RunShow show({"a"});
  show.settings.repeat = 4;
  const auto pass = show.node.script;
  show.node.script = [&, n = 0](fake::World& world) mutable { ++n == 2 ? fail_all(world) : pass(world); };
  const RunRecord& record = show.play();
  CHECK(record.tests[0].attempts.size() == 4);
  CHECK(show.verdicts() == Names{"fail"});
}

TEST_CASE("fail-fast stops after the first test that is not good") {
  RunShow show({"a", "b", "c"});
  show.settings.fail_fast = true;
  show.node.script = [pass = show.node.script, n = 0](fake::World& world) mutable {
    ++n == 2 ? fail_all(world) : pass(world);
  };
  const RunRecord& record = show.play();
  CHECK(show.verdicts() == Names{"pass", "fail"});
  CHECK(record.not_run == 1);
}

TEST_CASE("a plugin that cannot be listed is a problem, and the others run") {
  RunShow show({"a"});
  show.settings.plugins = {"gone.so", "ring.so"};
  const RunRecord& record = show.play();
  REQUIRE(record.problems.size() == 1);
  CHECK(record.problems[0].plugin == "gone.so");
  CHECK(record.problems[0].phase == "list");
  CHECK(show.verdicts() == Names{"pass"});
  CHECK(exit_code_of(record) == 3);
}

TEST_CASE("a plugin that cannot be loaded is one problem, and its tests are not run") {
  RunShow show({"a", "b"});
  show.add("Ring", "c", "other.so");
  show.settings.plugins = {"ring.so", "other.so"};
  show.node.unloadable = "ring.so";
  const RunRecord& record = show.play();
  REQUIRE(record.problems.size() == 1);
  CHECK(record.problems[0].phase == "load");
  CHECK(record.not_run == 2);
  CHECK(show.verdicts() == Names{"pass"});
  CHECK(show.told.count("problem") == 1);
}

TEST_CASE("a test that is skipped before any rank needs none") {
  RunShow show({"a"});
  wire::TestInfo& info = show.node.tables["ring.so"].tests[0];
  info.world_size = 0;
  info.skip = {{73, "small world"}};
  const RunRecord& record = show.play();
  CHECK(show.verdicts() == Names{"skip"});
  CHECK(record.tests[0].message == "small world");
  CHECK(record.tests[0].attempts.empty());
  CHECK(show.node.spawned == 0);
  CHECK(show.node.prepared == 0);
}

TEST_CASE("a plugin that must not be forked runs by exec, and the record says why") {
  RunShow show({"a"});
  show.node.exec_only = "the plugin started 1 thread while loading";
  const Variant variant = show.play().tests.at(0).variant;
  CHECK(variant.isolation == Isolation::Exec);
  CHECK(variant.isolation_reason == "the plugin started 1 thread while loading");
  CHECK(show.node.world->spec().isolation == Isolation::Exec);
}

TEST_CASE("a cancelled run ends its attempt, and does not run the rest") {
  RunShow show({"a", "b", "c"});
  show.settings.repeat = 2;
  show.node.script = [&](fake::World& world) {
    world.start_and_greet_all();
    show.run->cancel(Urgency::Polite);
    world.die(0, SIGTERM);
    world.die(1, SIGTERM);
  };
  const RunRecord& record = show.play();
  CHECK(show.verdicts() == Names{"cancelled"});
  CHECK(record.interrupted);
  CHECK(record.not_run == 2);
  CHECK(exit_code_of(record) == 130);
  CHECK(show.node.spawned == 1);
  CHECK(show.node.cancelled == 1);
}

TEST_CASE("no attempt finds files of another in its directories") {
  RunShow show({"a", "b"});
  show.settings.repeat = 3;
  show.settings.leaks_off = true;
  int clean = 0;
  show.node.script = [&, n = 0](fake::World& world) mutable {
    world.start_and_greet_all();
    for (const int rank : {0, 1}) {
      const auto order = world.messages<wire::RunOrder>(rank, wire::ControlFrame::Run).at(0);
      clean += testing::exists(order.work_dir) && testing::names_in(order.work_dir).empty() ? 1 : 0;
      if (n++ % 3 == 0) testing::write_file(order.work_dir + "/x", "");
    }
    world.pass(0);
    world.pass(1);
  };
  show.play();
  CHECK(clean == 12);
}

TEST_CASE("a test is run until it fails, and no further") {
  RunShow show({"a", "b"});
  show.settings.until_fail = 5;
  const auto pass = show.node.script;
  show.node.script = [&, n = 0](fake::World& world) mutable { ++n == 3 ? fail_all(world) : pass(world); };
  const RunRecord& record = show.play();
  CHECK(show.verdicts() == Names{"fail", "pass"});
  CHECK(record.tests[0].attempts.size() == 3);
  CHECK(record.tests[1].attempts.size() == 5);
}

TEST_CASE("a run takes its shard of the selected tests, and knows their number") {
  RunShow show({"a", "b", "c", "d"});
  show.settings.filters = {"-Ring.a"};
  show.settings.shard = {1, 2};
  const RunRecord& record = show.play();
  CHECK(record.selected == 3);
  REQUIRE(record.tests.size() == 2);
  CHECK(record.tests[0].info.name == "b");
  CHECK(record.tests[1].info.name == "d");
}

TEST_CASE("shards of a shuffled run are those of the run in order") {
  std::set<std::string> seen;
  for (const int index : {1, 2}) {
    RunShow show({"a", "b", "c", "d", "e"});
    show.settings.shard = {index, 2};
    show.settings.shuffle = true;
    show.settings.seed = static_cast<std::uint64_t>(index);  // different on each machine
    for (const TestRecord& test : show.play().tests) CHECK(seen.insert(test.info.name).second);
  }
  CHECK(seen.size() == 5);
}

TEST_CASE("the tests of an earlier run are run again, and missing ones are named") {
  RunShow show({"a", "b", "c"});
  show.settings.rerun_failed = "summary.json";
  show.settings.rerun = {{"ring.so", "Ring.c"}, {"ring.so", "Ring.x"}};
  const RunRecord& record = show.play();
  REQUIRE(record.tests.size() == 1);
  CHECK(record.tests[0].info.name == "c");
  CHECK(record.gone == Names{"Ring.x"});
}

TEST_CASE("the record has the times when bodies began and ended") {
  RunShow show({"a"});
  const RankRecord& rank = show.play().tests.at(0).attempts.at(0).ranks.at(0);
  CHECK(rank.body_began.count() > 0);
  CHECK(rank.body_ended >= rank.body_began);
  CHECK(rank.body_ended <= rank.ended);
}

TEST_CASE("tests run in the planned order, and a plugin is kept until the last of its tests") {
  RunShow show({"a", "b"});
  show.add("Ring", "c", "other.so");
  show.settings.plugins = {"ring.so", "other.so"};
  show.run.emplace(show.loop, show.node, show.told, show.places, show.settings);
  show.run->arrange([](std::vector<PlannedTest>& tests) { std::swap(tests[1], tests[2]); });
  testing::run_task(show.loop, show.run->run());
  std::vector<std::string> names;
  for (const TestRecord& test : show.run->record().tests) names.push_back(test.info.name);
  CHECK(names == std::vector<std::string>{"a", "c", "b"});
  CHECK(show.node.released == std::vector<std::string>{"other.so", "ring.so"});
}

TEST_CASE("if mounts are denied no test is run, and the reason is reported") {
  testing::Scratch scratch;
  io::Loop loop;
  fake::Node node(loop);
  Told told;
  wire::PluginTable table;
  table.tests.resize(2);
  table.tests[0].suite = table.tests[1].suite = "Ring";
  table.tests[0].name = "pass";
  table.tests[1].name = "fail";
  node.tables["ring.so"] = table;
  node.no_mounts = "unshare: Operation not permitted";
  Settings settings;
  settings.plugins = {"ring.so"};
  settings.private_tmp = true;
  Run run(loop, node, told, {"private0run", scratch.directory("tmp"), scratch.directory("start")}, settings);
  bool over = false;
  boost::asio::co_spawn(loop.context(), run.run(), [&](std::exception_ptr) { over = true; });
  REQUIRE(testing::run_until(loop, [&] { return over; }));
  CHECK(node.spawned == 0);
  CHECK(run.record().not_run == 2);
  REQUIRE(run.record().problems.size() == 1);
  CHECK_THAT(run.record().problems[0].text,
             Catch::Contains("--private-tmp needs private mounts") && Catch::Contains("Operation not permitted"));
}
