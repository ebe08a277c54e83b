#include <catch2/catch.hpp>

#include <sys/resource.h>

#include <csignal>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/report/files/appended_file.hpp>
#include <distrun/runner/report/files/whole_file.hpp>

#include "scratch.hpp"

using namespace distrun;
using namespace distrun::report;
using namespace distrun::report::samples;
using Catch::Contains;

TEST_CASE("added text follows the existing text", "[report]") {
  const Scratch scratch;
  const std::string path = scratch.path("step");
  AppendedFile(path).append("first\n");
  AppendedFile second(path);
  CHECK(second.size() == 6);
  second.append("second\n");
  second.append("third\n");
  CHECK(content_of(path) == "first\nsecond\nthird\n");
  CHECK(second.size() == 19);
}

TEST_CASE("a file that cannot be appended to is reported with the reason", "[report]") {
  CHECK_THROWS_WITH(AppendedFile("/no/such/step"), Contains("cannot append to /no/such/step") && Contains("ENOENT"));
  CHECK_THROWS_WITH(AppendedFile("/dev/full").append("x"),
                    Contains("cannot append to /dev/full") && Contains("ENOSPC"));
  const Scratch scratch;
  CHECK_THROWS_AS(AppendedFile(scratch.directory()), Error);
}

TEST_CASE("text that does not fit is not added partially", "[report]") {
  const Scratch scratch;
  const std::string path = scratch.path("step");
  write_whole_file(path, "what others wrote\n");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{100, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tight);
  CHECK_THROWS_WITH(AppendedFile(path).append(std::string(1000, 'x')), Contains("EFBIG"));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(content_of(path) == "what others wrote\n");
}
