// The smallest tests with several ranks. Run them with
//
//   distrun --world-size 4 hello_ranks.so
//
// Every test below runs in all ranks at once, each in a separate process. The test passes if all of
// its ranks pass.
#include <iostream>

#include <distrun/test.hpp>

// A test has a suite and a name; the id of this one is Hello.every_rank_greets. In its body, `rank`
// is the current rank. The output of a rank is stored, and shown if the test fails.
DISTRUN_TEST(Hello, every_rank_greets) {
  std::cout << "hello from rank " << rank.rank() << " of " << rank.world_size() << std::endl;

  // EXPECT reports a failure, with both operands, and continues. REQUIRE ends the body of this rank.
  DISTRUN_REQUIRE(rank.world_size() >= 1);
  DISTRUN_EXPECT(rank.rank() >= 0);
  DISTRUN_EXPECT(rank.rank() < rank.world_size());
}

// A barrier lets ranks wait for each other: no rank leaves it before all have arrived. If a rank fails
// before it arrives, the others do not wait forever, but get an error that names that rank.
DISTRUN_TEST(Hello, all_ranks_meet) { rank.barrier(); }

// Options follow the name. This test always runs with two ranks, regardless of --world-size.
DISTRUN_TEST(Hello, two_ranks_exchange_names, .world_size = fixed(2)) {
  const int other = 1 - rank.rank();
  rank.send(other, "name", rank.worker_name());
  DISTRUN_EXPECT(rank.receive(other, "name") == rank.worker_name(other));
}
