// The small readers of the command line: shards, and names that are nearly right.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>

#include "options/nearest.hpp"
#include "options/shard.hpp"

using namespace distrun;
using namespace distrun::cli;

TEST_CASE("a shard is a part of a number of parts, counted from one") {
  CHECK(parse_shard("--shard", "2/3").index == 2);
  CHECK(parse_shard("--shard", "2/3").count == 3);
  CHECK(parse_shard("--shard", "1/1").count == 1);
  CHECK(parse_shard("--shard", "10000/10000").index == 10000);
}

TEST_CASE("what is no shard is refused with what one looks like") {
  for (const char* text : {"0/3", "4/3", "1/0", "-1/3", "1", "/", "1/", "/3", "a/b", "1/3x", " 1/3", "1/10001",
                           "99999999999/99999999999", ""}) {
    INFO("'" << text << "'");
    CHECK_THROWS_WITH(parse_shard("--shard", text), Catch::Contains("--shard") && Catch::Contains("1/3"));
  }
}

TEST_CASE("the nearest name is found, if one is near") {
  const std::vector<std::string> known = {"timeout", "timeout-scale", "backend", "seed", "env"};
  CHECK(nearest("timout", known) == "timeout");
  CHECK(nearest("bakcend", known) == "backend");
  CHECK(nearest("timeout-scala", known) == "timeout-scale");
  CHECK(nearest("sead", known) == "seed");
  CHECK(nearest("zebra", known).empty());
  CHECK(nearest("", known).empty());
  CHECK(nearest(std::string(1'000'000, 'x'), known).empty());
  CHECK(did_you_mean("enw", known) == "; did you mean env?");
  CHECK(did_you_mean("x", {}).empty());
}
