#include <catch2/catch.hpp>

#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/runner/proc/run_files.hpp>

#include "../../support/scratch.hpp"
#include "../support/forked.hpp"
#include "support/skip.hpp"

using namespace distrun;
using namespace distrun::proc;
using namespace distrun::testing;

namespace {

struct ScratchPlaces : RunPlaces {
  // A random id, because /dev/shm is searched for it too.
  ScratchPlaces() : RunPlaces{base::random_hex(12), "", ""} {
    temp_dir = scratch.directory("tmp");
    start_dir = scratch.directory("start");
  }
  Scratch scratch;
};

}  // namespace

TEST_CASE("all files with the run's id in their names are removed, and nothing else") {
  const ScratchPlaces places;
  std::filesystem::create_directories(places.run_dir() + "/1/rank0");
  write_file(places.run_dir() + "/1/rank0/file", "x");
  const std::string file = places.start_dir + "/core." + places.run_id + ".17";
  write_file(file, "x");
  write_file(places.start_dir + "/other", "x");
  write_file(places.temp_dir + "/distrun-000000000000", "x");
  std::vector<std::string> removed = remove_run_files(places).removed;
  std::sort(removed.begin(), removed.end());
  CHECK(removed == std::vector<std::string>{file, places.run_dir()});
  CHECK_FALSE(exists(places.run_dir()));
  CHECK_FALSE(exists(file));
  CHECK(exists(places.start_dir + "/other"));
  CHECK(exists(places.temp_dir + "/distrun-000000000000"));
  CHECK(remove_run_files(places).removed.empty());
}

TEST_CASE("the run's own directory stays on request") {
  const ScratchPlaces places;
  std::filesystem::create_directories(places.run_dir());
  write_file(places.temp_dir + "/x" + places.run_id, "");
  CHECK(remove_run_files(places, true).removed == std::vector<std::string>{places.temp_dir + "/x" + places.run_id});
  CHECK(exists(places.run_dir()));
}

TEST_CASE("links are removed and never followed") {
  const ScratchPlaces places;
  const std::string outside = places.scratch.directory("outside");
  write_file(outside + "/precious", "x");
  const std::string link = places.temp_dir + "/link-" + places.run_id;
  REQUIRE(::symlink(outside.c_str(), link.c_str()) == 0);
  std::filesystem::create_directories(places.run_dir());
  REQUIRE(::symlink(outside.c_str(), (places.run_dir() + "/inner").c_str()) == 0);
  CHECK(remove_run_files(places).removed.size() == 2);
  CHECK_FALSE(exists(link));
  CHECK_FALSE(exists(places.run_dir()));
  CHECK(exists(outside + "/precious"));
}

TEST_CASE("files of other users are not touched") {
  const ScratchPlaces places;
  const std::string path = places.temp_dir + "/theirs-" + places.run_id;
  write_file(path, "x");
  testing::skip_case_if(::lchown(path.c_str(), 65534, 65534) != 0, "only root can give a file away");
  CHECK(remove_run_files(places).removed.empty());
  CHECK(exists(path));
}

TEST_CASE("removing files that do not exist is silent") {
  const Scratch scratch;
  CHECK(remove_tree(scratch.path() + "/none").empty());
  CHECK(remove_tree("").empty());
}

TEST_CASE("a directory without permissions is removed with its contents") {
  const Scratch scratch;
  const std::string top = scratch.directory("top");
  std::filesystem::create_directories(top + "/closed/deeper");
  write_file(top + "/closed/deeper/file", "x");
  ::chmod((top + "/closed/deeper").c_str(), 0);
  ::chmod((top + "/closed").c_str(), 0);
  // As a user restricted by file modes.
  const auto end = in_child([&] {
    if (::geteuid() == 0) {
      (void)!::lchown(scratch.path().c_str(), 65534, 65534);
      for (const char* name : {"", "/closed", "/closed/deeper", "/closed/deeper/file"}) {
        (void)!::lchown((top + name).c_str(), 65534, 65534);
      }
      if (::setuid(65534) != 0) return 2;
    }
    return remove_tree(top).empty() ? 0 : 1;
  });
  CHECK(end.code == 0);
  CHECK_FALSE(exists(top));
}

namespace {

// Creates nested directories with a file in each, by descriptors, since the path exceeds the kernel's limit.
void nest(const std::string& top, int depth) {
  base::Fd directory(::open(top.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < depth && directory; ++i) {
    const base::Fd file(::openat(directory.get(), "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    ::mkdirat(directory.get(), "directory", 0700);
    directory = base::Fd(::openat(directory.get(), "directory", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
}

}  // namespace

TEST_CASE("directories may be nested deeper than descriptors, the stack or a path allow") {
  const Scratch scratch;
  const std::string top = scratch.directory("top");
  for (const char* name : {"/a", "/b", "/c"}) {
    ::mkdir((top + name).c_str(), 0700);
    nest(top + name, name[1] == 'b' ? 500 : 20);
  }
  const auto end = in_child([&] {
    const rlimit few{40, 40};
    ::setrlimit(RLIMIT_NOFILE, &few);
    return remove_tree(top).empty() ? 0 : 1;
  });
  CHECK(end.code == 0);
  CHECK_FALSE(exists(top));
}

TEST_CASE("mounts in a directory are left alone and reported") {
  const Scratch scratch;
  const std::string top = scratch.directory("top");
  const std::string precious = scratch.directory("precious");
  write_file(precious + "/keep", "x");
  write_file(top + "/beside", "x");
  ::mkdir((top + "/inside").c_str(), 0700);
  // In a separate mount namespace, so that nothing stays mounted.
  const auto end = in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return 2;
    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (::mount(precious.c_str(), (top + "/inside").c_str(), nullptr, MS_BIND, nullptr) != 0) return 2;
    return remove_tree(top) == top + "/inside: a file system is mounted there" ? 0 : 1;
  });
  CHECK(exists(precious + "/keep"));
  testing::skip_case_if(end.code == 2, "this kernel does not allow mounts here");
  CHECK(end.code == 0);
  CHECK_FALSE(exists(top + "/beside"));
}

TEST_CASE("files that cannot be removed are reported with the reason") {
  const ScratchPlaces places;
  const std::string path = places.temp_dir + "/x" + places.run_id;
  std::filesystem::create_directories(path + "/inside");
  const base::Fd file(::open((path + "/inside").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  int flags = FS_IMMUTABLE_FL;
  testing::skip_case_if(::ioctl(file.get(), FS_IOC_SETFLAGS, &flags) != 0,
                        "this file system has no immutable files, or only root creates them");
  const RemovedFiles files = remove_run_files(places);
  flags = 0;
  ::ioctl(file.get(), FS_IOC_SETFLAGS, &flags);
  CHECK(files.removed.empty());
  CHECK(files.stuck == std::vector<std::string>{path + "/inside: " + base::errno_text(EPERM)});
}

TEST_CASE("a run's places are the user's temp directory and the directory it was started in") {
  const Scratch scratch;
  ::setenv("TMPDIR", scratch.path().c_str(), 1);
  const RunPlaces places = RunPlaces::here("id");
  CHECK(places.run_id == "id");
  CHECK(places.temp_dir == scratch.path());
  CHECK(places.run_dir() == scratch.path() + "/distrun-id");
  CHECK(places.start_dir == std::filesystem::current_path().string());
  ::setenv("TMPDIR", "relative", 1);
  CHECK(RunPlaces::here("id").temp_dir == "/tmp");
  ::unsetenv("TMPDIR");
  CHECK(RunPlaces::here("id").temp_dir == "/tmp");
}

TEST_CASE("a temp directory that is the start directory under another name is the same place") {
  const Scratch scratch;
  const std::string directory = scratch.directory("tmp");
  REQUIRE(::symlink(directory.c_str(), (scratch.path() + "/link").c_str()) == 0);
  std::filesystem::current_path(directory);
  const std::string name = GENERATE("/tmp/", "/tmp//.", "/link");
  ::setenv("TMPDIR", (scratch.path() + name).c_str(), 1);
  const RunPlaces places = RunPlaces::here(base::random_hex(12));
  CHECK(places.temp_dir == places.start_dir);
  std::filesystem::create_directories(places.run_dir());
  remove_run_files(places, true);
  CHECK(exists(places.run_dir()));
  std::filesystem::current_path("/");
  ::unsetenv("TMPDIR");
}

TEST_CASE("a missing or unreadable directory is not a valid start directory") {
  const bool gone = GENERATE(true, false);
  const Scratch scratch;
  const std::string place = scratch.directory("place");
  const ForkedEnd end = in_child([&] {
    if (::chdir(place.c_str()) != 0) return 1;
    if (gone) ::rmdir(place.c_str());
    if (!gone && ::chmod(place.c_str(), 0) != 0) return 2;
    if (!gone && ::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return 2;  // root could read it
    try {
      RunPlaces::here("r");
      return 3;
    } catch (const Error& error) {
      const std::string text = error.what();
      return text.find(gone ? "if it was removed, start" : "cannot read the current directory") != std::string::npos
                 ? 0
                 : 4;
    }
  });
  CHECK(end == ForkedEnd{0, 0});
}
