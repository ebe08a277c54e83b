// The barrier for a test's own logic.
#include <distrun/test.hpp>

#include <fstream>
#include <string>
#include <vector>

#include "support/hosts.hpp"

using namespace std::chrono_literals;

namespace {

void touch(const std::string& path) { std::ofstream(path) << "here"; }
bool was_written(const std::string& path) { return std::ifstream(path).good(); }

}  // namespace

DISTRUN_TEST(Barrier, nobody_leaves_before_all_have_come) {
  rank.note("rows", "[row:barrier/Barrier.init]");
  distrun::suites::needs_one_host(rank);
  for (int round = 0; round < 3; ++round) {
    const std::string head = std::string(rank.temp_dir()) + "/came-" + std::to_string(round) + "-";
    touch(head + std::to_string(rank.rank()));
    rank.barrier();  // reusing a name begins a new barrier
    for (int other = 0; other < rank.world_size(); ++other) {
      DISTRUN_EXPECT(was_written(head + std::to_string(other)));
    }
  }
}

DISTRUN_TEST(Barrier, a_bound_of_its_own_runs_out_as_an_error) {
  rank.note("rows", "[row:barrier/Barrier.sync-wait_for-None-timeout-10]");
  if (rank.is_master()) {
    DISTRUN_EXPECT_THROWS(distrun::Error, "barrier 'alone'", rank.barrier("alone", 20ms));
  }
  rank.barrier("after");
  DISTRUN_EXPECT(true);
}

// Ranks do not wait for a rank that has finished: the run's timeout would be much later.
DISTRUN_TEST(Barrier, a_rank_that_cannot_come_any_more_ends_it, .world_size = fixed(3)) {
  rank.note("rows", "[row:barrier/Barrier.sync-wait_for-None-timeout-10]");
  DISTRUN_EXPECT(true);
  if (rank.rank() == 1) return;
  DISTRUN_EXPECT_THROWS(distrun::PeerFailed, "rank 1", rank.barrier("without rank 1"));
}

// A subset of ranks synchronises by messages: a barrier always includes all ranks.
DISTRUN_TEST(Barrier, some_ranks_meet_by_messages, .world_size = fixed(4)) {
  rank.note("rows", "[row:barrier/explicit-wait_for]");
  if (rank.rank() == 0) {
    for (int other = 1; other < 3; ++other) DISTRUN_EXPECT(rank.receive(other, "came") == "yes");
    for (int other = 1; other < 3; ++other) rank.send(other, "go on", "");
  } else if (rank.rank() < 3) {
    rank.send(0, "came", "yes");
    DISTRUN_EXPECT(rank.receive(0, "go on").empty());
  } else {
    DISTRUN_EXPECT(rank.rank() == 3);  // takes no part
  }
}
