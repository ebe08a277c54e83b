// Tests for a dashboard: one that passes, one that fails on one rank, a flaky one and a skipped one.
// README.md in this folder shows the reports of their run.
#include <distrun/test.hpp>

DISTRUN_TEST(Nightly, ranks_meet) { rank.barrier("start"); }

// Rank 2 lacks a row.
DISTRUN_TEST(Nightly, shards_are_complete) {
  const int rows = rank.rank() == 2 ? 3 : 4;
  DISTRUN_REQUIRE(rows == 4);
}

// On the first attempt, rank 1 does not see all of its peers.
DISTRUN_TEST(Nightly, peers_are_found) {
  const int peers = rank.rank() == 1 && rank.attempt() == 1 ? 2 : 3;
  DISTRUN_REQUIRE(peers == 3);
}

DISTRUN_TEST(Nightly, scales_to_many_ranks,
             .skip = {skip_if([](const ListContext& run) { return run.world_size < 64; }, "needs 64 ranks")}) {
  rank.barrier("start");
}
