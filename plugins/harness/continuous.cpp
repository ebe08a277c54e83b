// Ranks that stay: the same two processes run every test of the suite (--isolation pool).
#include <distrun/sdk/test.hpp>

#include <unistd.h>

#include <string>

namespace {

pid_t first_pid = 0;  // of the rank that ran the first test in this process

}  // namespace

DISTRUN_SUITE(Continuous, .world_size = fixed(2), .isolation = Isolation::Pool);

DISTRUN_TEST(Continuous, first_test_finds_new_processes) {
  rank.note("rows", "[row:continuous/class-variables] [row:continuous/run_rank-entry]");
  DISTRUN_EXPECT(first_pid == 0);
  first_pid = getpid();
  rank.send(1 - rank.rank(), "pid", std::to_string(getpid()));
  DISTRUN_EXPECT(rank.receive(1 - rank.rank(), "pid") != std::to_string(getpid()));
}

// Selected alone it has nothing to compare with.
DISTRUN_TEST(Continuous, second_test_finds_the_same_processes) {
  rank.note("rows", "[row:continuous/class-variables] [row:continuous/run_rank-entry]");
  DISTRUN_EXPECT((first_pid == 0 || first_pid == getpid()));
  rank.note("stayed", first_pid == getpid() ? "yes" : "no");
  DISTRUN_EXPECT(rank.world_size() == 2);
}

// What a suite says of its backend it asks of the run, which always has one.
DISTRUN_TEST(Continuous, the_run_names_the_backend) {
  rank.note("rows", "[row:continuous/backend_str-opts]");
  DISTRUN_EXPECT(!rank.backend().empty());
}
