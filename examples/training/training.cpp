// Three tests of a training step on four ranks: one passes, one loads too few rows, and in one a rank waits for an
// event that never happens while the others wait for it. README.md begins with distrun's reports of them.
#include <chrono>
#include <cstdio>
#include <thread>

#include <distrun/test.hpp>

using namespace std::chrono_literals;

namespace {

int load_shard(int rank) {
  const int rows = rank == 2 ? 3 : 4;
  std::printf("loaded %d rows\n", rows);
  return rows;
}

[[gnu::noinline]] void refill_queue() {
  for (;;) std::this_thread::sleep_for(1s);  // for a producer that was never started
}

}  // namespace

DISTRUN_TEST(Training, ranks_meet_after_an_epoch) { rank.barrier("epoch"); }

DISTRUN_TEST(Training, every_rank_loads_its_shard) {
  const int rows = load_shard(rank.rank());
  DISTRUN_REQUIRE(rows == 4);
  rank.barrier("loaded");
}

DISTRUN_TEST(Training, ranks_agree_on_the_last_step, .timeout = 2s) {
  if (rank.rank() == 1) refill_queue();
  rank.barrier("last step");
}
