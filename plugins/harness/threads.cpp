// Ranks that are threads of one process (--isolation threads).
#include <distrun/test.hpp>

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "support/hosts.hpp"

class Threads : public distrun::Fixture {
 public:
  // Runs on the rank's thread; its values are this rank's.
  void set_up(distrun::Rank& rank) override {
    thread_ = gettid();
    rank_ = rank.rank();
    name_ = rank.worker_name(rank.rank());
  }
  void tear_down(distrun::Rank& rank) override { DISTRUN_EXPECT(name_ == rank.worker_name()); }

 protected:
  pid_t thread_ = 0;
  int rank_ = -1;
  std::string name_;
};

// Set up once, outside the threads, in the suite's host: one object from set-up to tear-down.
class ThreadsSuite : public distrun::SuiteFixture {
 public:
  void set_up_host(distrun::Host& host) override {
    const char* stacks = std::getenv("TORCH_SHOW_CPP_STACKTRACES");
    DISTRUN_REQUIRE(stacks != nullptr);
    DISTRUN_EXPECT(std::string(stacks) == "1");
    DISTRUN_EXPECT(host_ == 0);
    host_ = getpid();
    host.set("host", std::to_string(host_));
  }
  void tear_down_host(distrun::Host&) override { DISTRUN_EXPECT(host_ == getpid()); }

 private:
  pid_t host_ = 0;
};

DISTRUN_SUITE_FIXTURE(Threads, ThreadsSuite);
DISTRUN_SUITE(Threads, .isolation = Isolation::Threads);

namespace {

// Returns the texts of all ranks, in order of ranks; on rank 0.
std::vector<std::string> gather(distrun::Rank& rank, const std::string& own) {
  rank.send(0, "gathered", own);
  std::vector<std::string> all;
  if (!rank.is_master()) return all;
  for (int other = 0; other < rank.world_size(); ++other) all.push_back(rank.receive(other, "gathered"));
  return all;
}

std::size_t different(const std::vector<std::string>& texts) {
  return std::set<std::string>(texts.begin(), texts.end()).size();
}

}  // namespace

DISTRUN_TEST_F(Threads, are_the_ranks_of_one_process) {
  rank.note("rows",
            "[row:multithread/spawn_threads_and_init_comms-wrapper] [row:multithread/spawning-threads] "
            "[row:multithread/world-size-and-name]");
  distrun::suites::needs_one_host(rank, "the ranks are threads of one process");
  const std::vector<std::string> pids = gather(rank, std::to_string(getpid()));
  const std::vector<std::string> threads = gather(rank, std::to_string(gettid()));
  if (!rank.is_master()) return;
  DISTRUN_EXPECT(different(pids) == 1U);
  DISTRUN_EXPECT(different(threads) == static_cast<std::size_t>(rank.world_size()));
  DISTRUN_EXPECT(rank.test_id() == "Threads.are_the_ranks_of_one_process");
}

DISTRUN_TEST_F(Threads, have_a_fixture_each) {
  rank.note("rows",
            "[row:multithread/thread-entry-_run] [row:multithread/MultiThreadedTestCase-role-of-set-up-hooks] "
            "[row:multithread/running-one-thread]");
  distrun::suites::needs_one_host(rank, "the ranks are threads of one process");
  DISTRUN_EXPECT(thread_ == gettid());
  DISTRUN_EXPECT(rank_ == rank.rank());
  DISTRUN_EXPECT(name_ == rank.worker_name());
  DISTRUN_EXPECT(&distrun::this_rank() == &rank);
  const std::vector<std::string> objects = gather(rank, std::to_string(reinterpret_cast<std::uintptr_t>(this)));
  if (rank.is_master()) DISTRUN_EXPECT(different(objects) == static_cast<std::size_t>(rank.world_size()));
  rank.barrier("all have their own");
  DISTRUN_EXPECT(rank_ == rank.rank());
  DISTRUN_EXPECT(name_ == rank.worker_name());
}

// Each rank has a different seed, so a random value need not be compared on one rank alone.
DISTRUN_TEST_F(Threads, have_a_seed_each) {
  rank.note("rows", "[row:multithread/assertEqualOnRank-assertNotEqualOnRank]");
  const std::vector<std::string> seeds = gather(rank, std::to_string(rank.seed()));
  const std::vector<std::string> shared = gather(rank, std::to_string(rank.shared_seed()));
  DISTRUN_EXPECT(rank.seed() == rank.seed());
  if (!rank.is_master()) return;
  DISTRUN_EXPECT(different(seeds) == static_cast<std::size_t>(rank.world_size()));
  DISTRUN_EXPECT(different(shared) == 1U);
}

DISTRUN_TEST_F(Threads, find_the_suite_set_up_outside_their_process) {
  rank.note("rows", "[row:multithread/main-thread-set-up-and-tear-down]");
  const std::vector<std::string> hosts = gather(rank, std::string(rank.setting("host")));
  DISTRUN_EXPECT(rank.setting("host") != std::to_string(getpid()));
  if (rank.is_master()) DISTRUN_EXPECT(different(hosts) == 1U);
}
