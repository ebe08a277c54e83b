// The tests that the benchmarks run: one that does nothing, and ranks that die at a known moment.
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <string>

#include <distrun/test.hpp>

namespace {

std::string now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::to_string(now.tv_sec * 1'000'000'000LL + now.tv_nsec);
}

void die(distrun::Rank& rank) {
  rank.note("died_at_ns", now_ns());
  ::raise(SIGKILL);
}

}  // namespace

DISTRUN_TEST(Bench, trivial) { DISTRUN_EXPECT(rank.rank() < rank.world_size()); }

DISTRUN_TEST(Bench, last_rank_dies, .may_die = {dies(-1)}) {
  if (rank.rank() + 1 == rank.world_size()) die(rank);
}

DISTRUN_TEST(Bench, last_rank_dies_while_others_wait) {
  rank.barrier("before");
  if (rank.rank() + 1 == rank.world_size()) die(rank);
  rank.barrier("after");
}

DISTRUN_TEST(Bench, last_rank_hangs) {
  if (rank.rank() + 1 == rank.world_size()) ::pause();
  rank.barrier("after");
}

// A thousand tests that do nothing.
DISTRUN_TEST(Thousand, trivial,
             .parameters = product(axis("i", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), axis("j", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}),
                                   axis("k", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}))) {
  DISTRUN_EXPECT(rank.rank() < rank.world_size());
}
