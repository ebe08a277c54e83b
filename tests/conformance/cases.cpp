// Tests that end in every way that the harness's scenarios know. scenario_test.cpp and its neighbours have the expected
// results.
#include <distrun/plugin/sdk/environment.hpp>
#include <distrun/plugin/sdk/file_lock.hpp>
#include <distrun/test.hpp>

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "fixtures/misbehave.hpp"

namespace {

using fixture::hang;

void meet(distrun::Rank& rank) { rank.barrier("meet"); }

}  // namespace

DISTRUN_TEST(Scenario, all_succeed) { DISTRUN_EXPECT(rank.rank() >= 0); }

DISTRUN_TEST(Scenario, one_throws) {
  if (rank.rank() == 2) throw std::runtime_error("the shard is torn");
  hang();
}

DISTRUN_TEST(Scenario, two_throw) {
  meet(rank);
  if (rank.rank() % 2 == 1) throw std::runtime_error("from rank " + std::to_string(rank.rank()));
}

DISTRUN_TEST(Scenario, huge_error_text) {
  if (rank.rank() == 1) throw std::runtime_error("begin " + std::string(2 << 20, 'x') + " end");
  meet(rank);
}

DISTRUN_TEST(Scenario, others_fail_in_their_grace) {
  if (rank.rank() == 0) throw std::runtime_error("the first");
  try {
    meet(rank);
  } catch (const distrun::PeerFailed&) {
    throw std::runtime_error("and rank " + std::to_string(rank.rank()));
  }
}

DISTRUN_TEST(Scenario, rank_3_crashes) {
  if (rank.rank() == 3) raise(SIGSEGV);
  DISTRUN_EXPECT(true);
}

DISTRUN_TEST(Scenario, rank_3_crashes_while_others_wait) {
  if (rank.rank() == 3) raise(SIGSEGV);
  hang();
}

// The other ranks are notified of the death and meet without rank 3.
DISTRUN_TEST(Scenario, others_go_on_after_a_declared_crash, .may_die = {dies_by_signal(3, SIGSEGV)}) {
  if (rank.rank() == 3) {
    for (int other = 0; other < 3; ++other) rank.send(other, "pid", std::to_string(getpid()));
    raise(SIGSEGV);
  }
  const pid_t dying = std::stoi(rank.receive(3, "pid"));
  while (kill(dying, 0) == 0) fixture::nap(std::chrono::milliseconds(1));
  rank.barrier("the living");
  rank.note("went on", "yes");
  DISTRUN_EXPECT(true);
}

DISTRUN_TEST(Scenario, declared_crash, .may_die = {dies_by_signal(3, SIGSEGV)}) {
  if (rank.rank() == 3) raise(SIGSEGV);
  DISTRUN_EXPECT(true);
}

DISTRUN_TEST(Scenario, declared_crash_and_a_failure, .may_die = {dies(3)}) {
  if (rank.rank() == 3) raise(SIGSEGV);
  if (rank.rank() == 1) throw std::runtime_error("not declared");
  DISTRUN_EXPECT(true);
}

DISTRUN_TEST(Scenario, all_exit_3) { std::exit(3); }
DISTRUN_TEST(Scenario, all_exit_0) { std::exit(0); }
DISTRUN_TEST(Scenario, exit_codes_differ) { std::exit(rank.rank() == 0 ? 3 : 4); }

DISTRUN_TEST(Scenario, one_exits_while_others_hang) {
  if (rank.rank() == 1) std::exit(4);
  hang();
}

DISTRUN_TEST(Scenario, one_exits_10) {
  if (rank.rank() == 1) _exit(10);
  meet(rank);
}

// The process that sets up a suite is not a rank of its tests.
class SetUpFails : public distrun::SuiteFixture {
 public:
  void set_up_host(distrun::Host&) override { throw std::runtime_error("no dataset"); }
};
DISTRUN_SUITE_FIXTURE(SetUpOnce, SetUpFails);
DISTRUN_TEST(SetUpOnce, fails) { DISTRUN_EXPECT(false); }

DISTRUN_TEST(Scenario, two_finish_two_hang) {
  DISTRUN_EXPECT(true);
  if (rank.rank() >= 2) hang();
}

DISTRUN_TEST(Scenario, one_is_stopped) {
  if (rank.rank() == 1) raise(SIGSTOP);
  hang();
}

DISTRUN_TEST(Scenario, one_ignores_termination) {
  if (rank.rank() == 1) signal(SIGTERM, SIG_IGN);
  hang();
}

DISTRUN_TEST(Scenario, prints) {
  std::printf("hello from %d\n", rank.rank());
  std::fprintf(stderr, "oops from %d\n", rank.rank());
  DISTRUN_EXPECT(rank.rank() != 2);
}

// A separate timeout, far below the run's.
DISTRUN_TEST(Bounds, own, .world_size = fixed(1), .timeout = 200ms) { hang(); }
DISTRUN_TEST(Bounds, of_the_run, .world_size = fixed(1)) { hang(); }

DISTRUN_TEST(Devices, one_rank_each, .world_size = gpus()) { DISTRUN_EXPECT(rank.world_size() == rank.gpus()); }

DISTRUN_TEST(Files, are_used) {
  const std::string path = std::string(rank.init_method()).substr(std::string("file://").size());
  DISTRUN_EXPECT(access(path.c_str(), F_OK) != 0);
  rank.barrier("all have looked");
  if (rank.is_master()) std::fclose(std::fopen(path.c_str(), "w"));
  rank.barrier("made");
  rank.note("file", path);
  rank.note("directory", rank.temp_dir());
  DISTRUN_EXPECT(access(path.c_str(), F_OK) == 0);
}

DISTRUN_TEST(Files, one_holds_a_lock_and_hangs, .world_size = fixed(2)) {
  const std::string path = std::string(rank.temp_dir()) + "/lockfile";
  if (rank.rank() == 1) (void)rank.receive(0, "held");
  const distrun::FileLock lock(path);
  rank.send(1, "held", "");
  hang();
}

// An exception leaves one level: the variable is restored, and the next level runs.
DISTRUN_TEST(Levels, one_fails, .world_size = fixed(2)) {
  std::string seen;
  distrun::with_dist_debug_levels(rank, {"OFF", "INFO", "DETAIL"}, [&] {
    seen += fixture::environment("TORCH_DISTRIBUTED_DEBUG") + " ";
    rank.note("seen", seen);
    if (rank.rank() == 1 && seen.ends_with("INFO ")) throw std::runtime_error("too much to tell");
  });
  rank.note("afterwards", fixture::environment("TORCH_DISTRIBUTED_DEBUG"));
  DISTRUN_EXPECT(true);
}

// The rank has reported an error when it is asked for its stacks.
DISTRUN_TEST(Frames, error_and_stacks, .world_size = fixed(2)) {
  DISTRUN_EXPECT(rank.rank() == 0);
  hang();
}

DISTRUN_TEST(Subtests, one_fails) {
  std::string ran;
  const distrun::Product counts({distrun::axis("count", {1, 2, 3})});
  distrun::run_subtests(rank, counts, [&](const distrun::Parameters& element) {
    ran += element.text("count");
    rank.note("ran", ran);
    DISTRUN_REQUIRE((rank.rank() != 1 || element.get<int>("count") != 2));
  });
}

DISTRUN_SUITE(Pool, .world_size = fixed(2), .isolation = Isolation::Pool);
DISTRUN_TEST(Pool, a_passes) {
  rank.note("pid", std::to_string(getpid()));
  DISTRUN_EXPECT(true);
}
DISTRUN_TEST(Pool, b_passes) {
  rank.note("pid", std::to_string(getpid()));
  DISTRUN_EXPECT(true);
}
DISTRUN_TEST(Pool, c_hangs, .timeout = 300ms) {
  if (rank.rank() == 1) hang();
  meet(rank);
}
DISTRUN_TEST(Pool, d_passes) {
  rank.note("pid", std::to_string(getpid()));
  DISTRUN_EXPECT(true);
}
