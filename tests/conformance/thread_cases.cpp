// Ranks that are threads and go wrong.
#include <distrun/test.hpp>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "fixtures/misbehave.hpp"

DISTRUN_SUITE(ThreadRanks, .isolation = Isolation::Threads);

DISTRUN_TEST(ThreadRanks, a_one_throws) {
  if (rank.rank() == 1) throw std::runtime_error("thread trouble");
  rank.barrier("meet");
}

// The previous failure does not affect it.
DISTRUN_TEST(ThreadRanks, b_passes) { DISTRUN_EXPECT(true); }

DISTRUN_TEST(ThreadRanks, c_one_skips) {
  if (rank.rank() == 1) distrun::skip("only this thread");
  DISTRUN_EXPECT(true);
}

DISTRUN_TEST(ThreadRanks, d_all_skip) { distrun::skip("every thread"); }

DISTRUN_TEST(ThreadRanks, e_one_exits_0) {
  if (rank.rank() == 1) std::exit(0);
  rank.barrier("meet");
}

DISTRUN_TEST(ThreadRanks, f_one_hangs, .timeout = 300ms) {
  if (rank.rank() == 1) fixture::hang();
  rank.barrier("meet");
}

DISTRUN_TEST(ThreadRanks, g_passes) { DISTRUN_EXPECT(true); }

class ThreadSetUp : public distrun::Fixture {
 public:
  void set_up(distrun::Rank& rank) override {
    if (rank.rank() == 1) throw std::runtime_error("set-up trouble");
  }
};
DISTRUN_SUITE(ThreadSetUp, .isolation = Isolation::Threads);
DISTRUN_TEST_F(ThreadSetUp, fails) { rank.barrier("meet"); }
