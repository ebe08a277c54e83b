#include <distrun/catch2.hpp>

#include <string>

DISTRUN_CATCH2_PLUGIN(.world_size = fixed(2), .timeout = 10s);

TEST_CASE("ranks pass a token") {
  distrun::Rank& rank = distrun::this_rank();
  const int other = 1 - rank.rank();
  rank.send(other, "token", std::to_string(rank.rank()));
  CHECK(rank.receive(other, "token") == std::to_string(other));
}
