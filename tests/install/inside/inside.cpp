// A plugin of an external project.
#include <distrun/test.hpp>

DISTRUN_TEST(Inside, ranks_meet) {
  rank.barrier();
  DISTRUN_EXPECT(rank.world_size() >= 1);
}

// Its stack must show this line, no matter what the project says about debug information.
DISTRUN_TEST(Inside, fails) { throw 42; }
