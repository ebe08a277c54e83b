// The parser of shards on the command line.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>

#include "options/shard.hpp"

using namespace distrun;
using namespace distrun::cli;

TEST_CASE("a shard is a part of a number of parts, counted from one") {
  CHECK(parse_shard("--shard", "2/3").index == 2);
  CHECK(parse_shard("--shard", "2/3").count == 3);
  CHECK(parse_shard("--shard", "1/1").count == 1);
  CHECK(parse_shard("--shard", "10000/10000").index == 10000);
}

TEST_CASE("an invalid shard is refused with an example of a valid one") {
  for (const char* text : {"0/3", "4/3", "1/0", "-1/3", "1", "/", "1/", "/3", "a/b", "1/3x", " 1/3", "1/10001",
                           "99999999999/99999999999", ""}) {
    INFO("'" << text << "'");
    CHECK_THROWS_WITH(parse_shard("--shard", text), Catch::Contains("--shard") && Catch::Contains("1/3"));
  }
}
