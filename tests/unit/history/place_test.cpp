#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <cstdlib>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/history/place.hpp>

#include "../../support/scratch.hpp"

using namespace distrun;
using namespace distrun::history;

namespace {

// Sets the variables that decide the location; each case runs in a separate process.
void set(const char* history, const char* state, const char* home) {
  const auto put = [](const char* name, const char* value) {
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  };
  put("DISTRUN_HISTORY", history);
  put("XDG_STATE_HOME", state);
  put("HOME", home);
}

unsigned mode_of(const std::string& path) {
  struct stat found {};
  REQUIRE(::stat(path.c_str(), &found) == 0);
  return found.st_mode & 07777U;
}

}  // namespace

TEST_CASE("the option wins over the variable, and the variable over the user's directories") {
  set("/var/h.db", "/state", "/somebody");
  CHECK(find_place("x.db") == "x.db");
  CHECK(find_place() == "/var/h.db");
  set(nullptr, "/state", "/somebody");
  CHECK(find_place() == "/state/distrun/history.db");
  set("", "", "/somebody");
  CHECK(find_place() == "/somebody/.local/state/distrun/history.db");
  set(nullptr, "relative", "/somebody");
  CHECK(find_place() == "/somebody/.local/state/distrun/history.db");
}

TEST_CASE("the history is off on request, and for a user without directories") {
  set("off", "/state", "/somebody");
  CHECK_FALSE(find_place());
  CHECK(find_place("x.db") == "x.db");
  set("/var/h.db", nullptr, nullptr);
  CHECK_FALSE(find_place("off"));
  set(nullptr, nullptr, nullptr);
  CHECK_FALSE(find_place());
  set(nullptr, "relative", "relative");
  CHECK_FALSE(find_place());
}

TEST_CASE("the path is created with its directories, for the owner only") {
  const testing::Scratch scratch;
  ::umask(0);
  const std::string path = scratch.path() + "/state/distrun/history.db";
  make_place(path);
  CHECK(mode_of(path) == 0600);
  CHECK(mode_of(scratch.path() + "/state/distrun") == 0700);
  CHECK(mode_of(scratch.path() + "/state") == 0700);
}

TEST_CASE("an existing path is left unchanged") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/history.db";
  testing::write_file(path, "precious");
  REQUIRE(::chmod(path.c_str(), 0640) == 0);
  make_place(path);
  CHECK(testing::read_file(path) == "precious");
  CHECK(mode_of(path) == 0640);
}

TEST_CASE("a path that is not a file is refused") {
  const testing::Scratch scratch;
  const std::string fifo = scratch.path() + "/fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(make_place(fifo), Catch::Contains(fifo + " is not a regular file") && Catch::Contains("--history"));
  CHECK_THROWS_WITH(make_place(scratch.path()), Catch::Contains("is not a regular file"));
  CHECK_THROWS_WITH(make_place("/dev/null"), Catch::Contains("is not a regular file"));
  testing::write_file(scratch.path() + "/file", "x");
  CHECK_THROWS_WITH(make_place(scratch.path() + "/file/history.db"), Catch::Contains(scratch.path()));
  CHECK_THROWS_WITH(make_place("/proc/none/history.db"), Catch::Contains("/proc/none"));
}

TEST_CASE("a local file is not on a network file system, nor is one that does not exist") {
  const testing::Scratch scratch;
  CHECK_FALSE(is_shared_by_hosts("/proc/self/stat"));
  CHECK_FALSE(is_shared_by_hosts(scratch.path() + "/none"));
}
