#include <distrun/plugin/sdk/shared_file.hpp>

#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>

#include "fake_line.hpp"
#include "support/scratch.hpp"

using distrun::Rank;
using distrun::sdk_test::FakeLine;

TEST_CASE("rank 0 creates a shared file and sends its name to each other rank", "[sdk]") {
  const distrun::testing::Scratch scratch;
  FakeLine line;
  line.rank.rank = 0;
  line.rank.world_size = 3;
  line.rank.temp_dir = distrun::sdk_test::lend(scratch.path());
  Rank rank(line.rank, {});
  const std::string path = distrun::make_shared_file(rank);
  CHECK(distrun::testing::names_in(scratch.path()).size() == 1);
  CHECK(distrun::testing::exists(path));
  CHECK(distrun::testing::read_file(path).empty());
  CHECK(line.said.size() == 2);
  for (const std::string& said : line.said) CHECK_THAT(said, Catch::Contains(path));
}

TEST_CASE("the other ranks use the name that rank 0 sends", "[sdk]") {
  FakeLine line;
  line.answers.push_back({DISTRUN_OK, "/somewhere/shared-abc", 0});
  Rank rank(line.rank, {});
  CHECK(distrun::make_shared_file(rank) == "/somewhere/shared-abc");
}

TEST_CASE("a shared file that cannot be created is an error with its path", "[sdk]") {
  FakeLine line;
  line.rank.rank = 0;
  const std::string nowhere = "/no/such/directory";
  line.rank.temp_dir = distrun::sdk_test::lend(nowhere);
  Rank rank(line.rank, {});
  CHECK_THROWS_WITH(distrun::make_shared_file(rank), Catch::Contains(nowhere));
}
