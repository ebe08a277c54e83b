// Persistent ranks: the same two processes run every test of the suite (--isolation pool), on one host or on two.
#include <distrun/test.hpp>

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "support/hosts.hpp"

namespace {

constexpr int kRanks = 2;

pid_t first_pid = 0;  // of the first test's rank in this process

void add_line(std::string_view directory, const std::string& file) {
  std::ofstream(std::string(directory) + "/" + file, std::ios::app) << getpid() << "\n";
}

int lines_of(std::string_view directory, const std::string& file) {
  std::ifstream lines(std::string(directory) + "/" + file);
  int count = 0;
  for (std::string line; std::getline(lines, line);) ++count;
  return count;
}

// Two ranks on several hosts are one on each. Hosts share no directory.
int ranks_here() { return distrun::suites::are_hosts_several() ? 1 : kRanks; }

int number_in(std::string_view directory, const std::string& file) {
  int number = 0;
  std::ifstream(std::string(directory) + "/" + file) >> number;
  return number;
}

}  // namespace

// State shared by all tests of the suite. The host outlives the ranks, and checks how many times they were set up:
// those that share its directory.
class ContinuousSuite : public distrun::SuiteFixture {
 public:
  void tear_down_host(distrun::Host& host) override {
    const int ranks = number_in(host.temp_dir(), "ranks-here");
    DISTRUN_EXPECT(ranks > 0);
    DISTRUN_EXPECT(lines_of(host.temp_dir(), "set-up") == ranks);
    DISTRUN_EXPECT(lines_of(host.temp_dir(), "torn-down") == ranks);
  }
  void set_up_suite(distrun::Rank& rank) override {
    DISTRUN_REQUIRE(rank.rank() >= 0);
    DISTRUN_REQUIRE(rank.rank() < rank.world_size());
    backend_ = rank.backend();
    add_line(rank.suite_dir(), "set-up");
    std::ofstream(std::string(rank.suite_dir()) + "/ranks-here") << ranks_here();
    rank.barrier("all are set up");
  }
  void tear_down_suite(distrun::Rank& rank) override {
    DISTRUN_EXPECT(rank.backend() == backend_);
    add_line(rank.suite_dir(), "torn-down");
    rank.barrier("all are torn down");
  }
  const std::string& backend() const noexcept { return backend_; }

 private:
  std::string backend_;  // stands in for what a suite opens for all of its tests
};

DISTRUN_SUITE_FIXTURE(Continuous, ContinuousSuite);
DISTRUN_SUITE(Continuous, .world_size = fixed(kRanks), .isolation = Isolation::Pool);

DISTRUN_TEST(Continuous, first_test_finds_new_processes) {
  rank.note("rows", "[row:continuous/class-variables] [row:continuous/run_rank-entry]");
  DISTRUN_EXPECT(first_pid == 0);
  first_pid = getpid();
  rank.send(1 - rank.rank(), "pid", std::to_string(getpid()));
  const std::string other = rank.receive(1 - rank.rank(), "pid");
  DISTRUN_EXPECT((distrun::suites::are_hosts_several() || other != std::to_string(getpid())));  // each host counts
}

// Selected alone, it has no earlier process to compare with.
DISTRUN_TEST(Continuous, second_test_finds_the_same_processes) {
  rank.note("rows", "[row:continuous/class-variables] [row:continuous/run_rank-entry]");
  DISTRUN_EXPECT((first_pid == 0 || first_pid == getpid()));
  rank.note("stayed", first_pid == getpid() ? "yes" : "no");
  DISTRUN_EXPECT(rank.world_size() == 2);
}

// A suite takes its backend from the run, which always has one.
DISTRUN_TEST(Continuous, the_run_names_the_backend) {
  rank.note("rows", "[row:continuous/backend_str-opts]");
  const char* const named = std::getenv("BACKEND");
  DISTRUN_REQUIRE(named != nullptr);
  DISTRUN_EXPECT(rank.backend() == named);
  rank.note("backend", rank.backend());
}

// Whichever test runs first: it finds the suite set up once, and not torn down.
DISTRUN_TEST(Continuous, all_tests_share_one_set_up) {
  rank.note("rows", "[row:continuous/class-set-up] [row:continuous/class-tear-down]");
  DISTRUN_EXPECT(rank.suite<ContinuousSuite>().backend() == rank.backend());
  DISTRUN_EXPECT(lines_of(rank.suite_dir(), "set-up") == ranks_here());
  DISTRUN_EXPECT(lines_of(rank.suite_dir(), "torn-down") == 0);
  rank.barrier("all have looked");
}
