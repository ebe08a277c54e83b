#include <distrun/short_names.hpp>

#include <string>

DISTRUN_TEST(Outside, ranks_pass_a_token, .world_size = fixed(2), .timeout = 10s) {
  const int other = 1 - rank.rank();
  rank.send(other, "token", std::to_string(rank.rank()));
  CHECK(rank.receive(other, "token") == std::to_string(other));
}
