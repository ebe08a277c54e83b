#include <distrun/plugin/sdk/library.hpp>

#include <catch2/catch.hpp>

#include <algorithm>

#include <distrun/test.hpp>

#include "fake_line.hpp"

DISTRUN_TEST(Library, missing) { distrun::require_library("libno_such_library.so.9"); }
DISTRUN_TEST(Library, there) {
  distrun::require_library("libc.so.6");
  DISTRUN_EXPECT(true);
}

using distrun::sdk_test::FakeLine;

TEST_CASE("a condition skips where a library is missing", "[sdk]") {
  const auto missing = distrun::skip_if_no_library("libno_such_library.so.9", "no such thing")({});
  REQUIRE(missing);
  CHECK(missing->code == 86);
  CHECK(missing->reason == "no such thing");
  CHECK_FALSE(distrun::skip_if_no_library("libc.so.6", "no C")({}));
}

TEST_CASE("a body that needs a missing library skips, with a note of the loader's error", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Library.missing") == DISTRUN_SKIPPED);
  CHECK(std::count(line.said.begin(), line.said.end(), "skip 88 Test skipped due to missing import") == 1);
  CHECK(std::any_of(line.said.begin(), line.said.end(), [](const std::string& said) {
    return said.starts_with("note missing library=") && said.find("libno_such_library") != std::string::npos;
  }));
  FakeLine there;
  CHECK(there.run("Library.there") == DISTRUN_OK);
}
