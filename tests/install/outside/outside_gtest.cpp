#include <distrun/gtest.hpp>

#include <string>

DISTRUN_GTEST_PLUGIN(.world_size = fixed(2), .timeout = 10s);

TEST(OutsideGtest, ranks_pass_a_token) {
  distrun::Rank& rank = distrun::this_rank();
  const int other = 1 - rank.rank();
  rank.send(other, "token", std::to_string(rank.rank()));
  EXPECT_EQ(rank.receive(other, "token"), std::to_string(other));
}
