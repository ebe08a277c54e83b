// The smallest tests of several ranks. Run them with
//
//   distrun --world-size 4 hello_ranks.so
//
// Every test below runs in all ranks at once, each rank a process of its own. The test passes when
// all of its ranks have passed.
#include <iostream>

#include <distrun/test.hpp>

// A test has a suite and a name; this one's id is Hello.every_rank_greets. Its body is told by
// `rank` which of the ranks it is. What a rank prints is kept, and shown when the test fails.
DISTRUN_TEST(Hello, every_rank_greets) {
  std::cout << "hello from rank " << rank.rank() << " of " << rank.world_size() << std::endl;

  // EXPECT notes a failure, with both operands, and goes on. REQUIRE ends the body of this rank.
  DISTRUN_REQUIRE(rank.world_size() >= 1);
  DISTRUN_EXPECT(rank.rank() >= 0);
  DISTRUN_EXPECT(rank.rank() < rank.world_size());
}

// Ranks that share something have to meet. Nobody leaves a barrier before everybody has come; if a
// rank fails on its way, the others don't wait for ever, but are told which one it was.
DISTRUN_TEST(Hello, all_ranks_meet) { rank.barrier(); }

// Options follow the name. This test always runs with two ranks, whatever --world-size says.
DISTRUN_TEST(Hello, two_ranks_exchange_names, .world_size = fixed(2)) {
  const int other = 1 - rank.rank();
  rank.send(other, "name", rank.worker_name());
  DISTRUN_EXPECT(rank.receive(other, "name") == rank.worker_name(other));
}
