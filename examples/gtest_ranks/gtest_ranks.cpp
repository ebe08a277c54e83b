// GoogleTest's tests with several ranks. Run them with
//
//   distrun gtest_ranks.so
//
// One source contains DISTRUN_GTEST_PLUGIN; all other sources of a plugin can stay as they were in a
// separate program. Each test below runs in all ranks at once, each rank a process.
#include <distrun/gtest.hpp>

#include <string>

DISTRUN_GTEST_PLUGIN(.timeout = 10s);
DISTRUN_SUITE(Pair, .world_size = fixed(2));  // options of one suite

namespace {

// The code under test: every rank sends a number to rank 0, which sends the sum to all.
int sum_over_ranks(distrun::Rank& rank, int mine) {
  if (rank.rank() != 0) {
    rank.send(0, "number", std::to_string(mine));
    return std::stoi(rank.receive(0, "sum"));
  }
  int sum = mine;
  for (int peer = 1; peer < rank.world_size(); ++peer) sum += std::stoi(rank.receive(peer, "number"));
  for (int peer = 1; peer < rank.world_size(); ++peer) rank.send(peer, "sum", std::to_string(sum));
  return sum;
}

}  // namespace

// A test gets its rank where it needs it.
TEST(Sum, of_ones_is_the_world_size) {
  distrun::Rank& rank = distrun::this_rank();
  EXPECT_EQ(sum_over_ranks(rank, 1), rank.world_size());
}

// The id of the first is Sums.are_the_same_everywhere/instance=Small,param=0.
class Sums : public ::testing::TestWithParam<int> {};
TEST_P(Sums, are_the_same_everywhere) {
  distrun::Rank& rank = distrun::this_rank();
  ASSERT_EQ(sum_over_ranks(rank, GetParam()), GetParam() * rank.world_size());
}
INSTANTIATE_TEST_SUITE_P(Small, Sums, ::testing::Values(0, 7));

TEST(Pair, exchanges_names) {
  distrun::Rank& rank = distrun::this_rank();
  const int other = 1 - rank.rank();
  rank.send(other, "name", rank.worker_name());
  EXPECT_EQ(rank.receive(other, "name"), rank.worker_name(other));
}
