#include <distrun/test.hpp>

DISTRUN_TEST(OutsideTest, ranks_meet, .world_size = fixed(2), .timeout = 10s) {
  rank.barrier();
  DISTRUN_EXPECT(rank.world_size() == 2);
}
