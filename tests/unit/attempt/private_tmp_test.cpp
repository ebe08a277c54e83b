// The private directories of a lane's ranks, and the messages about them. Mounting is the kernel's work, which the
// integration tests cover.
#include <catch2/catch.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include <distrun/runner/attempt/private_tmp.hpp>

#include "../../support/scratch.hpp"
#include "stage.hpp"

namespace distrun::runner {
namespace {

using testing::exists;

// A run with its directories in /tmp, where Scratch creates them.
struct Places {
  testing::Scratch scratch;
  // All tests share /dev/shm.
  proc::RunPlaces places{"private0run" + std::to_string(::getpid()), scratch.directory("tmp"),
                         scratch.directory("start")};
  std::string shared_memory() const { return "/dev/shm/distrun-" + places.run_id; }
  ~Places() { proc::remove_run_files(places); }
};

std::string stand_in(const PrivateTmp& private_tmp, const std::string& shown) {
  for (const launch::Mount& mount : private_tmp.mounts()) {
    if (mount.to == shown) return mount.from;
  }
  return "";
}

bool mounts(const PrivateTmp& private_tmp, const std::string& from, const std::string& to) {
  const auto& all = private_tmp.mounts();
  return std::any_of(all.begin(), all.end(), [&](const auto& mount) { return mount.from == from && mount.to == to; });
}

std::vector<std::string> seen(const PrivateTmp& private_tmp) {
  std::vector<std::string> names;
  for (const PrivateTmp::Left& left : private_tmp.left()) names.push_back(left.seen_as);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("directories of the run replace /tmp and /dev/shm, are open for all, and are removed at the end") {
  Places here;
  std::string tmp, memory;
  {
    const PrivateTmp private_tmp(here.places, "1", {}, false);
    tmp = stand_in(private_tmp, "/tmp");
    memory = stand_in(private_tmp, "/dev/shm");
    CHECK(tmp == here.places.run_dir() + "/private-1/tmp");
    CHECK(memory == here.shared_memory() + "/private-1/shm");
    struct stat status {};
    REQUIRE(::stat(tmp.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 01777);
    REQUIRE(::stat(here.places.run_dir().c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0700);
    CHECK(private_tmp.mounts().back().to == "/dev/shm");
  }
  CHECK_FALSE(exists(tmp));
  CHECK_FALSE(exists(memory));
}

TEST_CASE("paths below /tmp that ranks need stay visible, the outermost directories once") {
  Places here;
  const std::string deep = here.scratch.directory("start/deep");
  const std::string plugin = here.scratch.path() + "/plugin.so";
  testing::write_file(plugin, "");
  const PrivateTmp private_tmp(here.places, "1", {deep, here.places.start_dir, plugin, "/nowhere", "/usr"}, false);
  const std::string tmp = stand_in(private_tmp, "/tmp");
  const auto inside = [&](const std::string& path) { return tmp + path.substr(std::string("/tmp").size()); };
  CHECK(mounts(private_tmp, here.places.run_dir(), inside(here.places.run_dir())));
  CHECK(mounts(private_tmp, here.places.start_dir, inside(here.places.start_dir)));
  CHECK(mounts(private_tmp, plugin, inside(plugin)));
  CHECK(private_tmp.mounts().size() == 5);
  CHECK(private_tmp.left().empty());
}

TEST_CASE("files in them are reported by the paths that ranks see, also with directories that stay visible") {
  Places here;
  const PrivateTmp private_tmp(here.places, "1", {here.places.start_dir}, false);
  const std::string tmp = stand_in(private_tmp, "/tmp");
  const std::string beside = here.scratch.path() + "/left";
  testing::write_file(tmp + "/file", "x");
  testing::write_file(tmp + beside.substr(std::string("/tmp").size()), "x");
  testing::write_file(stand_in(private_tmp, "/dev/shm") + "/memory", "x");
  CHECK(seen(private_tmp) == std::vector<std::string>{"/dev/shm/memory", beside, "/tmp/file"});
  for (const PrivateTmp::Left& left : private_tmp.left()) {
    CHECK((left.name.kind == proc::NameKind::SharedMemory) == left.seen_as.starts_with("/dev/shm"));
  }
}

TEST_CASE("directories that are kept for inspection stay if any file was left") {
  Places here;
  const bool something = GENERATE(false, true);
  std::string tmp;
  {
    const PrivateTmp private_tmp(here.places, "1", {}, true);
    tmp = stand_in(private_tmp, "/tmp");
    if (something) testing::write_file(tmp + "/file", "x");
  }
  CHECK(exists(tmp + "/file") == something);
  CHECK(exists(here.shared_memory()) == something);
}

TEST_CASE("a plugin's directory is needed, and of a plugin directly in /tmp only the file") {
  Places here;
  const std::string in_tmp = "/tmp/" + here.places.run_id + ".so";
  testing::write_file(in_tmp, "");
  const std::vector<std::string> needed =
      needed_paths(here.places, {here.scratch.path() + "/start/../start", in_tmp, "/nowhere/x.so"});
  ::unlink(in_tmp.c_str());
  const auto has = [&](const std::string& path) { return std::count(needed.begin(), needed.end(), path) > 0; };
  CHECK(has(here.places.start_dir));
  CHECK(has(here.scratch.path()));
  CHECK(has(in_tmp));
  CHECK_FALSE(has("/tmp"));
}

}  // namespace distrun::runner
