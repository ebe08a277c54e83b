#include <distrun/runner/attempt/name_watch.hpp>

#include <catch2/catch.hpp>

#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include <distrun/runner/attempt/test_resources.hpp>

#include "../../support/scratch.hpp"

using namespace distrun;
using distrun::runner::NameWatch;
using distrun::runner::Traces;

namespace {

struct Watched {
  Watched() {
    places.run_id = "watch0run0id";
    places.temp_dir = scratch.directory("tmp");
    places.start_dir = scratch.directory("start");
    watch.emplace(places);
    watch->forget();
  }
  std::string leave(const std::string& name) {
    const std::string path = places.temp_dir + "/" + name;
    testing::write_file(path, "here");
    return path;
  }
  std::string leave_tagged() { return leave("left-" + places.run_id); }
  // Returns whether a name created by the test is reported as strange.
  bool is_strange(const std::string& path) {
    const std::vector<std::string> strangers = watch->strangers();
    return std::count(strangers.begin(), strangers.end(), path) == 1;
  }
  testing::Scratch scratch;
  proc::RunPlaces places;
  std::optional<NameWatch> watch;
};

Traces holding(const std::string& path) {
  struct stat status {};
  ::stat(path.c_str(), &status);
  return {{{path, status.st_dev, status.st_ino}}, {}};
}

using Tests = std::set<std::string>;

}  // namespace

TEST_CASE("a new name that no process of a test uses is reported at the end, and no test is blamed") {
  Watched at;
  const NameWatch::Mark mark = at.watch->begin("A");
  const std::string path = at.leave("x");
  CHECK(at.watch->names_of(mark, {}).empty());
  at.watch->end("A");
  CHECK(at.is_strange(path));
  CHECK(at.watch->suspicions().empty());
}

TEST_CASE("a new name that a process of the test uses belongs to that test, with or without other tests beside it") {
  Watched at;
  const NameWatch::Mark mark = at.watch->begin("A");
  if (GENERATE(false, true)) at.watch->begin("B");
  const std::string path = at.leave("x");
  const auto names = at.watch->names_of(mark, holding(path));
  REQUIRE(names.size() == 1);
  CHECK(names[0].path == path);
  at.watch->give(names[0]);
  CHECK(at.watch->names_of(mark, holding(path)).empty());
  CHECK_FALSE(at.is_strange(path));
}

TEST_CASE("a name that was removed and is created again is reported again, with any inode") {
  Watched at;
  for (const std::string test : {"A", "B", "C"}) {
    const NameWatch::Mark mark = at.watch->begin(test);
    const std::string path = at.leave_tagged();
    const auto names = at.watch->names_of(mark, {});
    INFO(test);
    REQUIRE(names.size() == 1);
    std::filesystem::remove(path);
    at.watch->removed(names[0]);
    at.watch->end(test);
  }
}

TEST_CASE("a name that existed before the test, or is another file by now, does not belong to that test") {
  Watched at;
  const std::string old = at.leave("old");
  const NameWatch::Mark mark = at.watch->begin("A");
  CHECK(at.watch->names_of(mark, holding(old)).empty());
  const std::string path = at.leave("x");
  const Traces traces = holding(path);
  REQUIRE(std::rename(at.leave("y").c_str(), path.c_str()) == 0);
  CHECK(at.watch->names_of(mark, traces).empty());
}

TEST_CASE("a name with the run's id is that of the only test that runs") {
  Watched at;
  const NameWatch::Mark mark = at.watch->begin("A");
  const std::string path = at.leave_tagged();
  const auto names = at.watch->names_of(mark, {});
  REQUIRE(names.size() == 1);
  CHECK(names[0].path == path);
  CHECK(at.watch->carries_run_id(names[0]));
}

TEST_CASE("of tests that run at the same time none is blamed for such a name, and all are named at the end") {
  Watched at;
  const NameWatch::Mark a = at.watch->begin("A");
  const NameWatch::Mark b = at.watch->begin("B");
  const std::string path = at.leave_tagged();
  CHECK(at.watch->names_of(a, {}).empty());
  at.watch->end("A");
  CHECK(at.watch->names_of(b, {}).empty());  // B has not run alone
  at.watch->end("B");
  const auto suspicions = at.watch->suspicions();
  REQUIRE(suspicions.size() == 1);
  CHECK(suspicions[0].path == path);
  CHECK(suspicions[0].tests == Tests{"A", "B"});
}

TEST_CASE("a name that vanishes before the end is not reported") {
  Watched at;
  at.watch->begin("A");
  const NameWatch::Mark mark = at.watch->begin("B");
  const std::string path = at.leave_tagged();
  at.watch->names_of(mark, {});
  at.watch->end("B");
  at.watch->end("A");
  std::filesystem::remove(path);
  CHECK(at.watch->suspicions().empty());
}

TEST_CASE("names that existed before a test began are not attributed to it") {
  Watched at;
  at.watch->begin("A");
  at.leave_tagged();
  at.watch->begin("B");
  at.watch->end("A");
  at.watch->end("B");
  REQUIRE(at.watch->suspicions().size() == 1);
  CHECK(at.watch->suspicions()[0].tests == Tests{"A"});
}

TEST_CASE("once no test has run for a moment, the next test is responsible for its names again") {
  Watched at;
  at.watch->begin("A");
  at.watch->begin("B");
  at.watch->end("A");
  at.watch->end("B");
  const NameWatch::Mark mark = at.watch->begin("C");
  at.leave_tagged();
  CHECK(at.watch->names_of(mark, {}).size() == 1);
  at.watch->end("C");
}

TEST_CASE("a System V segment belongs to the test that created it") {
  Watched at;
  const NameWatch::Mark mark = at.watch->begin("A");
  const int id = ::shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
  REQUIRE(id >= 0);
  CHECK(at.watch->names_of(mark, {{}, {1}}).empty());
  const auto names = at.watch->names_of(mark, {{}, {1, ::getpid()}});
  ::shmctl(id, IPC_RMID, nullptr);
  REQUIRE(names.size() == 1);
  CHECK(names[0].object.id == id);
}

// The kernel reports pid 0 for unused semaphores and queues, which is not a process.
TEST_CASE("semaphores that no process has used yet belong to no test") {
  Watched at;
  const NameWatch::Mark mark = at.watch->begin("A");
  const int id = ::semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
  REQUIRE(id >= 0);
  const auto names = at.watch->names_of(mark, {{}, {0}});
  ::semctl(id, 0, IPC_RMID);
  CHECK(names.empty());
}

TEST_CASE("shared memory that the CUDA driver keeps of a rank is removed without blame, that of others stays") {
  Watched at;
  runner::TestResources resources(*at.watch, nullptr, nullptr, "A");
  resources.add_process(::getpid());
  const auto cuda_name = [](pid_t maker) {
    char name[64];
    std::snprintf(name, sizeof name, "/dev/shm/cuda.shm.%u.%x.1", ::geteuid(), static_cast<unsigned>(maker));
    return std::string(name);
  };
  const std::string own = cuda_name(::getpid()), other = cuda_name(::getpid() + 1);
  testing::write_file(own, "events");
  testing::write_file(other, "events");
  CHECK_FALSE(resources.any());
  CHECK(resources.tell().empty());
  CHECK_FALSE(std::filesystem::exists(own));
  CHECK(std::filesystem::exists(other));
  std::filesystem::remove(other);
}
