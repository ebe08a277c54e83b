#include <catch2/catch.hpp>

#include <distrun/runner/plan/plan.hpp>

using namespace distrun;
using namespace distrun::runner;

namespace {

wire::TestInfo info_of(const std::string& suite, const std::string& name, int world_size = 4) {
  wire::TestInfo info;
  info.suite = suite;
  info.name = name;
  info.world_size = world_size;
  return info;
}

}  // namespace

TEST_CASE("a plan holds the selected tests in their order, with the settings of the run") {
  Settings settings;
  settings.backend = "gloo";
  settings.agent = "faulty";
  wire::PluginTable table;
  table.tests = {info_of("Ring", "b"), info_of("Other", "x"), info_of("Ring", "a", 2)};
  const std::vector<PlannedTest> tests = plan("ring.so", table, Filter({"Ring"}), settings);
  REQUIRE(tests.size() == 2);
  CHECK(tests[0].id == "Ring.b");
  CHECK(tests[1].id == "Ring.a");
  CHECK(tests[1].variant.world_size == 2);
  CHECK(tests[0].plugin == "ring.so");
  CHECK(tests[0].variant.backend == "gloo");
  CHECK(tests[0].variant.agent == "faulty");
  CHECK(tests[0].variant.isolation == Isolation::Process);
  CHECK_FALSE(tests[0].skipped());
}

TEST_CASE("a test that requires an isolation gets it, and the plan says why") {
  wire::PluginTable table;
  table.tests = {info_of("Ring", "a"), info_of("Ring", "b")};
  table.tests[0].isolation = "exec";
  table.tests[1].isolation = "process";
  const std::vector<PlannedTest> tests = plan("ring.so", table, Filter(), Settings{});
  CHECK(tests[0].variant.isolation == Isolation::Exec);
  CHECK(tests[0].variant.isolation_reason == "the test requires exec");
  CHECK(tests[1].variant.isolation_reason.empty());
}

TEST_CASE("ranks of a test that needs MPI are processes for that test only") {
  wire::PluginTable table;
  table.reuse = wire::Reuse::Together;
  table.tests = {info_of("Ring", "a"), info_of("Ring", "b")};
  table.tests[0].needs_mpi = true;
  Settings settings;
  settings.isolation = Isolation::Pool;
  const std::vector<PlannedTest> pooled = plan("ring.so", table, Filter(), settings);
  CHECK(pooled[0].variant.isolation == Isolation::Process);
  CHECK(pooled[0].variant.isolation_reason == "a process can be in one world of MPI only");
  CHECK(pooled[1].variant.isolation == Isolation::Pool);
  settings.isolation = Isolation::Threads;
  const std::vector<PlannedTest> threads = plan("ring.so", table, Filter(), settings);
  REQUIRE(threads[0].skipped());
  CHECK(threads[0].info.skip[0].reason == "it needs MPI, whose ranks are processes");
  CHECK_FALSE(threads[1].skipped());
}

TEST_CASE("a plan has the overrides of its tests, which their filter sees") {
  Settings settings;
  Override changes;
  changes.filter = "Ring.a";
  changes.timeout = std::chrono::microseconds(1);
  changes.retries = 3;
  changes.tags = {"slow", "a"};
  changes.locks = {"disk"};
  settings.overrides = {changes};
  wire::PluginTable table;
  table.tests = {info_of("Ring", "a"), info_of("Ring", "b")};
  table.tests[0].tags = {"slow"};
  const std::vector<PlannedTest> tests = plan("ring.so", table, Filter({"tag:a"}), settings);
  REQUIRE(tests.size() == 1);
  CHECK(tests[0].info.timeout_ms == 1);  // never 0, which is none
  CHECK(tests[0].retries == 3);
  CHECK(tests[0].info.tags == std::vector<std::string>{"a", "slow"});
  CHECK(tests[0].info.locks == std::vector<std::string>{"disk"});
}

TEST_CASE("a test with a skip reason is planned as skipped") {
  wire::PluginTable table;
  table.tests = {info_of("Ring", "a", 0)};
  table.tests[0].skip = {{73, "small"}};
  CHECK(plan("ring.so", table, Filter(), Settings{}).at(0).skipped());
}
