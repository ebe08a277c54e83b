#include <catch2/catch.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/daemon/address.hpp>

#include "support/scratch.hpp"

using namespace distrun;
using namespace distrun::testing;
using daemon::prepare_folder_of;
using daemon::socket_path;

namespace {

std::string mode_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return "none";
  char text[8];
  std::snprintf(text, sizeof text, "%o", status.st_mode & 0777);
  return text;
}

}  // namespace

TEST_CASE("the socket's path is that of the option, of the variable, or in the user's runtime directory") {
  ::setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
  ::unsetenv("DISTRUN_DAEMON_SOCKET");
  CHECK(socket_path() == "/run/user/7/distrun/daemon.sock");
  ::setenv("DISTRUN_DAEMON_SOCKET", "/elsewhere/a.sock", 1);
  CHECK(socket_path() == "/elsewhere/a.sock");
  CHECK(socket_path("/given/b.sock") == "/given/b.sock");
  ::unsetenv("DISTRUN_DAEMON_SOCKET");
  ::unsetenv("XDG_RUNTIME_DIR");
  CHECK(socket_path() == "/tmp/distrun-" + std::to_string(::getuid()) + "/daemon.sock");
}

TEST_CASE("a path that no socket can have is refused") {
  CHECK_THROWS_AS(socket_path("relative.sock"), Error);
  CHECK_THROWS_AS(socket_path("/folder/"), Error);
  CHECK_THROWS_WITH(socket_path("/" + std::string(107, 'x')), Catch::Contains("at most 107 bytes"));
}

TEST_CASE("the default folder is created for the user only") {
  const Scratch scratch;
  ::setenv("XDG_RUNTIME_DIR", scratch.path().c_str(), 1);
  ::unsetenv("DISTRUN_DAEMON_SOCKET");
  prepare_folder_of(socket_path());
  prepare_folder_of(socket_path());
  CHECK(mode_of(scratch.path() + "/distrun") == "700");
}

TEST_CASE("a folder in which others could put a socket is refused") {
  const Scratch scratch;
  ::setenv("XDG_RUNTIME_DIR", scratch.path().c_str(), 1);
  const std::string folder = scratch.directory("distrun");
  ::chmod(folder.c_str(), 0750);
  CHECK_THROWS_WITH(prepare_folder_of(folder + "/daemon.sock"), Catch::Contains("not private to this user"));
  const std::string other = scratch.directory("other");
  ::chmod(other.c_str(), 0777);
  CHECK_THROWS_AS(prepare_folder_of(other + "/x.sock"), Error);
  ::chmod(other.c_str(), 0755);
  CHECK_NOTHROW(prepare_folder_of(other + "/x.sock"));
  const std::string link = scratch.path() + "/link";
  REQUIRE(::symlink(other.c_str(), link.c_str()) == 0);
  CHECK_THROWS_AS(prepare_folder_of(link + "/x.sock"), Error);
  CHECK_THROWS_AS(prepare_folder_of(scratch.path() + "/missing/x.sock"), Error);
}
