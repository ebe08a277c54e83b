// The settings of some tests, as tables of TOML.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>

#include "options/overrides.hpp"
#include "options/toml.hpp"
#include "support/error_of.hpp"

using namespace distrun;
using namespace distrun::cli;
using namespace std::chrono_literals;

namespace {

std::string refusal_of_override(const std::string& text) {
  const Error error = testing::error_of([&] { parse_override(text); });
  CHECK(error.kind() == ErrorKind::InvalidArgument);
  return error.what();
}

}  // namespace

TEST_CASE("an override is an inline table") {
  const runner::Override changes = parse_override(
      "{filter = 'tag:slow & !Ring.pass', timeout = \"5m\", retries = 2, tags = ['a', 'b'], locks = ['port 8000'], "
      "world-size = 8}");
  CHECK(changes.filter == "tag:slow & !Ring.pass");
  CHECK(changes.timeout == 5min);
  CHECK(changes.retries == 2);
  CHECK(changes.tags == std::vector<std::string>{"a", "b"});
  CHECK(changes.locks == std::vector<std::string>{"port 8000"});
  CHECK(changes.world_size == 8);
}

TEST_CASE("tables of a file are overrides") {
  const std::vector<TomlEntry> entries = read_toml(
      "timeout = '1s'\n[[overrides]]\nfilter = 'a\"b'\nretries = 1\n\n[[overrides]]\nfilter = \"c\"\ntags = ['d', "
      "'e']\n");
  REQUIRE(entries.size() == 2);
  CHECK(entries[1].key == "overrides");
  CHECK(entries[1].kind == TomlKind::List);
  REQUIRE(entries[1].values.size() == 2);
  CHECK(parse_override(entries[1].values[0]).filter == "a\"b");
  CHECK(parse_override(entries[1].values[0]).retries == 1);
  CHECK(parse_override(entries[1].values[1]).tags == std::vector<std::string>{"d", "e"});
}

TEST_CASE("an invalid override is refused with what is expected") {
  const char* const table = ": expected an inline table of TOML, as in {filter = \"tag:slow\", timeout = \"5m\"}";
  for (const std::string text : {"", "tag:slow", "{", "{filter = 'a'} retries = 2", "[1]", "{filter = 1999-01-01}"}) {
    CHECK(refusal_of_override(text) == "--overrides " + text + table);
  }
  const char* const setting = "expected a filter and at least one setting";
  CHECK_THAT(refusal_of_override("{}"), Catch::Contains(setting));
  CHECK_THAT(refusal_of_override("{filter = 'a'}"), Catch::Contains(setting));
  CHECK_THAT(refusal_of_override("{retries = 2, timeout = '1s'}"), Catch::Contains(setting));
  CHECK_THAT(
      refusal_of_override("{filter = 'a', retrys = 2}"),
      Catch::StartsWith("--overrides: retrys is not a setting of tests; expected filter, timeout, retries, tags, "
                        "locks or world-size; did you mean retries?"));
  CHECK_THAT(refusal_of_override("{filter = 'a', retries = -1}"),
             Catch::Contains("--overrides: retries -1: expected a number"));
  CHECK_THAT(refusal_of_override("{filter = 'a', world-size = 0}"),
             Catch::Contains("--overrides: world-size 0: expected a number"));
  CHECK_THAT(refusal_of_override("{filter = 'a', timeout = 'soon'}"),
             Catch::Contains("--overrides: timeout soon: expected a dur"));
  CHECK_THAT(refusal_of_override("{filter = 'a', timeout = ['1s']}"), Catch::Contains("timeout takes one value"));
  CHECK_THAT(refusal_of_override("{filter = 'a', tags = ['b c']}"),
             Catch::Contains("--overrides: it has the invalid tag 'b c'"));
  CHECK_THAT(refusal_of_override("{filter = 'a &', retries = 2}"),
             Catch::Contains("--filter 'a &': a pattern is missing"));
}
