#include <catch2/catch.hpp>

#include "launched.hpp"
#include "support/skip.hpp"

using namespace distrun;
using namespace distrun::launch;

TEST_CASE("a plugin's tests are listed in order, with skips decided for the run's settings") {
  Machine machine;
  const wire::PluginTable table = machine.list(DISTRUN_UNIT_PLUGIN);
  REQUIRE(table.tests.size() == 9);
  CHECK(table.tests.front().id() == "Launch.passes");
  CHECK(table.tests.front().world_size == 4);
  CHECK(table.tests.back().id() == "Launch.exists_only_with_two");
  CHECK(table.tests.back().world_size == 2);
  CHECK(proc::own_children().empty());
}

TEST_CASE("a missing plugin is an error with its name") {
  Machine machine;
  CHECK_THAT(error_of([&] { machine.list("/no/such/plugin.so"); }), Catch::Contains("/no/such/plugin.so"));
  CHECK(proc::own_children().empty());
}

TEST_CASE("a plugin that dies while it is listed is an error with its last output") {
  Machine machine;
  ::setenv("DISTRUN_UNIT_LAUNCH", "die", 1);
  const std::string text = error_of([&] { machine.list(DISTRUN_UNIT_PLUGIN); });
  CHECK_THAT(text, Catch::StartsWith(DISTRUN_UNIT_PLUGIN));
  CHECK_THAT(text, Catch::Contains("was killed by signal 9 (SIGKILL) while it was loaded to list its tests"));
  CHECK_THAT(text, Catch::Contains("about to die"));
}

TEST_CASE("a plugin that exits while it is loaded is named as the cause") {
  testing::skip_case_if(base::kThreadSanitizer, "the sanitizer reports what exits inside dlopen()");
  Machine machine;
  ::setenv("DISTRUN_UNIT_LAUNCH", "exit", 1);
  const std::string text = error_of([&] { machine.list(DISTRUN_UNIT_PLUGIN); });
  CHECK_THAT(text, Catch::Contains(" ended its process with exit code 0 while it was loaded to list its tests"));
}

TEST_CASE("a plugin that hangs while it is listed is an error when it times out") {
  Machine machine;
  ::setenv("DISTRUN_UNIT_LAUNCH", "hang", 1);
  const auto began = std::chrono::steady_clock::now();
  const std::string text = error_of([&] { machine.list(DISTRUN_UNIT_PLUGIN, std::chrono::milliseconds(300)); });
  CHECK(std::chrono::steady_clock::now() - began >= std::chrono::milliseconds(300));
  CHECK_THAT(text, Catch::Contains("did not list its tests within 300.0 ms"));
  CHECK(proc::own_children().empty());
}

TEST_CASE("a cancelled listing fails soon") {
  Machine machine;
  ::setenv("DISTRUN_UNIT_LAUNCH", "hang", 1);
  io::Alarm cancel(machine.loop, [&] { machine.node.cancel(); });
  cancel.set(std::chrono::steady_clock::now() + std::chrono::milliseconds(50));
  CHECK(error_of([&] { machine.list(DISTRUN_UNIT_PLUGIN); }) != "none");
  CHECK(proc::own_children().empty());
}

TEST_CASE("a missing rank program is an error, and no process is left") {
  Machine machine;
  LocalNodeOptions options = machine.options();
  options.rank_program = "/no/such/distrun-rank";
  LocalNode node(machine.loop, options);
  const wire::ListOrder order;
  const auto list = [&] { testing::run_task(machine.loop, node.list(DISTRUN_UNIT_PLUGIN, order, Machine::kBound)); };
  CHECK_THAT(error_of(list), Catch::Contains("cannot start /no/such/distrun-rank"));
  const auto prepare = [&] {
    testing::run_task(machine.loop, node.prepare(DISTRUN_UNIT_PLUGIN, Isolation::Process, Machine::kBound));
  };
  CHECK_THAT(error_of(prepare), Catch::Contains("cannot start /no/such/distrun-rank"));
  Ranks ranks("Launch.passes", 2, machine.scratch.path());
  ranks.world = node.spawn(WorldSpec{DISTRUN_UNIT_PLUGIN, Isolation::Exec, 2}, ranks);
  CHECK(machine.until([&] { return !ranks.spawn_failures.empty(); }));
  CHECK_THAT(ranks.spawn_failures[0], Catch::Contains("cannot start /no/such/distrun-rank"));
  CHECK(proc::own_children().empty());
}
