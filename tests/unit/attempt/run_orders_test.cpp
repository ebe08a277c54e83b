// The orders sent to ranks, and the ranks' directories.
#include <catch2/catch.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/attempt/cpu_share.hpp>
#include <distrun/runner/attempt/run_orders.hpp>
#include <distrun/runner/record/machine.hpp>

#include "../../support/scratch.hpp"

using namespace distrun;
using namespace distrun::runner;

namespace {

Meeting meeting(int port = 4711) { return {"/proc/1/fd/9", "file:///run/rendezvous", "", port}; }

OnMachine machine(int local_rank) { return {local_rank, "/run", "/run/rank", "/run/tmp", "2"}; }

// The order for a rank of a test on one machine.
wire::RunOrder order_of(const PlannedTest& test, const Settings& settings, int rank) {
  wire::RunOrder order = common_order(test, settings, "id", 5);
  add_meeting(order, test, meeting());
  order.rank = rank;
  add_machine(order, machine(rank), test.info.env_rendezvous, test.info.gpu_per_rank);
  return order;
}

std::string value_of(const wire::RunOrder& order, const std::string& key) {
  for (const wire::KeyValue& entry : order.env) {
    if (entry.key == key) return entry.value;
  }
  return "none";
}

}  // namespace

TEST_CASE("an order contains what its rank needs") {
  PlannedTest test;
  test.info.suite = "Ring";
  test.info.name = "pass";
  test.id = test.info.id();
  test.variant.world_size = 2;
  Settings settings;
  settings.seed = 17;
  settings.env = {{"KEY", "value"}};
  const wire::RunOrder order = order_of(test, settings, 1);
  CHECK(order.run_id == "id");
  CHECK(order.test_id == "Ring.pass");
  CHECK(order.rank == 1);
  CHECK(order.world_size == 2);
  CHECK(order.attempt == 5);
  CHECK(order.seed == 17);
  CHECK(order.coordinator_pid == ::getpid());
  CHECK(order.temp_dir == "/run");
  CHECK(order.work_dir == "/run/rank");
  CHECK(order.tmp_dir == "/run/tmp");
  CHECK(order.init_method == "file:///run/rendezvous");
  CHECK(value_of(order, "KEY") == "value");
  CHECK(value_of(order, "DISTRUN_STORE") == "/proc/1/fd/9");
  CHECK(value_of(order, "DISTRUN_THREADS") == "2");
  for (const char* name : {"RANK", "LOCAL_RANK", "MASTER_PORT"}) CHECK(value_of(order, name) == "none");
}

TEST_CASE("orders of one run share a secret, unless the user has one") {
  PlannedTest test;
  Settings settings;
  const std::string secret = value_of(common_order(test, settings, "id", 1), "DISTRUN_STORE_SECRET");
  CHECK(secret.size() == 32);
  CHECK(value_of(common_order(test, settings, "id", 2), "DISTRUN_STORE_SECRET") == secret);
  settings.env = {{"DISTRUN_STORE_SECRET", "own"}};
  CHECK(order_of(test, settings, 0).env.back().value == "own");
}

TEST_CASE("concurrent ranks get equal shares of the CPUs, but a user's setting wins") {
  CHECK(threads_each(8, 1) == "8");
  CHECK(threads_each(8, 3) == "2");
  CHECK(threads_each(8, 9) == "1");
  CHECK(cpus_for_ranks() >= 1);
  CHECK(cpus_for_ranks() <= usable_cpus());
  ::setenv("DISTRUN_THREADS", "7", 1);
  CHECK(threads_each(8, 4) == "7");
  ::unsetenv("DISTRUN_THREADS");
}

TEST_CASE("a container's limit of CPU time counts as whole CPUs") {
  CHECK(cpus_of_quota("200000 100000", 8) == 2);
  CHECK(cpus_of_quota("150000 100000", 8) == 1);
  CHECK(cpus_of_quota("50000 100000", 8) == 1);
  CHECK(cpus_of_quota("1600000 100000", 8) == 8);
  CHECK(cpus_of_quota("1e300 1", 8) == 8);
  for (const char* no_limit : {"max 100000", "", "nonsense", "0 100000", "-1 5", "100000", "100000 0"}) {
    INFO(no_limit);
    CHECK(cpus_of_quota(no_limit, 8) == 8);
  }
}

TEST_CASE("a test that asks for env:// gets a separate port and the rank numbers") {
  PlannedTest test;
  test.variant.world_size = 3;
  test.info.env_rendezvous = true;
  const wire::RunOrder first = order_of(test, Settings{}, 0);
  const wire::RunOrder last = order_of(test, Settings{}, 2);
  CHECK(value_of(first, "RANK") == "0");
  CHECK(value_of(last, "RANK") == "2");
  CHECK(value_of(last, "LOCAL_RANK") == "2");
  CHECK(value_of(first, "MASTER_PORT") == "4711");
  CHECK(value_of(last, "MASTER_PORT") == "4711");
}

TEST_CASE("a rank on another machine learns its place there, and where rank 0 is") {
  PlannedTest test;
  test.variant.world_size = 4;
  test.info.env_rendezvous = true;
  wire::RunOrder order = common_order(test, Settings{}, "id", 1);
  add_meeting(order, test, {"tcp://10.0.0.1:99", "tcp://10.0.0.2:7", "10.0.0.2", 8});
  order.rank = 3;
  add_machine(order, machine(1), true, false);
  CHECK(value_of(order, "RANK") == "3");
  CHECK(value_of(order, "LOCAL_RANK") == "1");
  CHECK(value_of(order, "MASTER_ADDR") == "10.0.0.2");
  CHECK(value_of(order, "MASTER_PORT") == "8");
  CHECK(value_of(order, "DISTRUN_STORE") == "tcp://10.0.0.1:99");
  CHECK(order.init_method == "tcp://10.0.0.2:7");
}

TEST_CASE("a plugin is not told that a test runs with several world sizes") {
  PlannedTest test;
  test.info.suite = "Ring";
  test.info.name = "pass";
  test.info.parameters = {{"n", "1"}};
  test.info.world_size = test.variant.world_size = 2;
  test.id = test.info.id();
  CHECK(common_order(test, Settings{}, "id", 1).test_id == "Ring.pass/n=1");
  test.info.has_size_in_id = true;
  test.id = test.info.id();
  CHECK(test.id == "Ring.pass/n=1 [np=2]");
  CHECK(common_order(test, Settings{}, "id", 1).test_id == "Ring.pass/n=1");
}

TEST_CASE("a rank with a separate device sees the one at its place among those that distrun sees") {
  PlannedTest test;
  test.variant.world_size = 3;
  test.info.gpu_per_rank = true;
  Settings settings;
  settings.gpus = 3;
  ::setenv("CUDA_VISIBLE_DEVICES", "5,3", 1);
  for (const auto& [rank, device] : {std::pair(0, "5"), std::pair(1, "3"), std::pair(2, "2")}) {
    const wire::RunOrder order = order_of(test, settings, rank);
    CHECK(value_of(order, "CUDA_VISIBLE_DEVICES") == device);
    CHECK(value_of(order, "DISTRUN_GPU") == std::to_string(rank));
    CHECK(order.gpus == 1);
  }
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  CHECK(value_of(order_of(test, settings, 1), "CUDA_VISIBLE_DEVICES") == "1");
}

TEST_CASE("an attempt has a separate directory and one for each rank, and removes them once used") {
  const testing::Scratch scratch;
  const std::string run_dir = scratch.path() + "/run";
  const bool keep = GENERATE(false, true);
  WorkDirPool pool(run_dir, keep);
  std::string used;
  {
    const auto dirs = pool.take(2);
    used = dirs->shared();
    CHECK(testing::names_in(used) == std::vector<std::string>{"rank0", "rank1", "tmp0", "tmp1"});
    testing::write_file(dirs->of(1) + "/file", "x");
    const auto next = pool.take(2);
    CHECK(next->shared() != used);
  }
  CHECK(testing::exists(used + "/rank1/file") == keep);
  CHECK(testing::exists(run_dir));
  CHECK(pool.take(2)->shared() != used);
}

TEST_CASE("files left in a TMPDIR are reported, and removed with its directory") {
  const testing::Scratch scratch;
  WorkDirPool pool(scratch.path() + "/run", false);
  const auto dirs = pool.take(2);
  CHECK(dirs->left_in_tmp().empty());
  testing::write_file(dirs->tmp_of(1) + "/file", "x");
  testing::write_file(dirs->of(1) + "/file", "x");
  REQUIRE(dirs->left_in_tmp().size() == 1);
  CHECK(dirs->left_in_tmp()[0].path == dirs->tmp_of(1) + "/file");
  CHECK(dirs->clear().empty());
  CHECK_FALSE(testing::exists(dirs->shared()));
  CHECK(dirs->left_in_tmp().empty());
}

TEST_CASE("unused directories are reused by the next attempt of that size, and by no other") {
  const testing::Scratch scratch;
  WorkDirPool pool(scratch.path() + "/run", false);
  const std::string two = pool.take(2)->shared();
  const std::string three = pool.take(3)->shared();
  CHECK(three != two);
  CHECK(pool.take(2)->shared() == two);
  const auto spoil = [&](const std::string& shared, int kind) {
    if (kind == 0) testing::write_file(shared + "/rendezvous", "x");
    if (kind == 1) testing::write_file(shared + "/rank1/file", "x");
    if (kind == 2) ::rmdir((shared + "/tmp0").c_str());
    if (kind == 3) ::chmod((shared + "/rank0").c_str(), 0755);
    if (kind == 4 && ::rmdir((shared + "/rank0").c_str()) == 0) (void)::symlink("/", (shared + "/rank0").c_str());
  };
  std::string last = two;
  for (int kind = 0; kind < 5; ++kind) {
    {
      const auto dirs = pool.take(2);
      last = dirs->shared();
      spoil(last, kind);
    }
    CHECK_FALSE(testing::exists(last));
    CHECK(pool.take(2)->shared() != last);
  }
}

TEST_CASE("a directory that cannot be created is an error with its path") {
  WorkDirPool pool("/proc/none", false);
  CHECK_THROWS_WITH(pool.take(1), Catch::Contains("cannot create /proc/none"));
}
