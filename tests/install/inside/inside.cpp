// A plugin of a project that is not distrun's.
#include <distrun/test.hpp>

DISTRUN_TEST(Inside, ranks_meet) {
  rank.barrier();
  DISTRUN_EXPECT(rank.world_size() >= 1);
}

// A stack of it has this line, whatever the project says of debug information.
DISTRUN_TEST(Inside, fails) { throw 42; }
