#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/runner/proc/leak_scan.hpp>

#include "../../support/scratch.hpp"
#include "support/skip.hpp"

using namespace distrun;
using namespace distrun::proc;
using testing::Scratch;
using testing::write_file;

namespace {

struct Places : RunPlaces {
  Places() : RunPlaces{"abc123", "", ""} {
    temp_dir = scratch.directory("tmp");
    start_dir = scratch.directory("start");
  }
  Scratch scratch;
};

// Returns the findings in the scratch directories, since /dev/shm is shared.
std::vector<std::string> found(LeakScan& scan, const Places& places, LeakScan::Mark since = 0) {
  std::vector<std::string> paths;
  for (const NewName& name : scan.since(since)) {
    if (name.path.starts_with(places.scratch.path())) paths.push_back(name.path);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

using Paths = std::vector<std::string>;

}  // namespace

TEST_CASE("new names are found in both directories, and are old for a scan that begins later") {
  const Places places;
  write_file(places.temp_dir + "/old", "x");
  LeakScan scan(places);
  scan.mark();
  CHECK(found(scan, places).empty());
  write_file(places.temp_dir + "/new", "x");
  ::mkdir((places.start_dir + "/dir").c_str(), 0700);
  const Paths both{places.start_dir + "/dir", places.temp_dir + "/new"};
  CHECK(found(scan, places) == both);
  CHECK(found(scan, places) == both);
  CHECK(found(scan, places, scan.mark()).empty());
  CHECK(found(scan, places) == both);
}

TEST_CASE("a name that vanishes again is not reported") {
  const Places places;
  LeakScan scan(places);
  scan.mark();
  write_file(places.temp_dir + "/x", "");
  ::unlink((places.temp_dir + "/x").c_str());
  CHECK(found(scan, places).empty());
}

TEST_CASE("a file that is created right after the mark is found, at any resolution of the kernel's times") {
  const Places places;
  LeakScan scan(places);
  scan.mark();
  for (int i = 0; i < 500; ++i) {
    const std::string path = places.temp_dir + "/" + std::to_string(i);
    const LeakScan::Mark mark = scan.mark();
    write_file(path, "");
    if (found(scan, places, mark) != Paths{path}) FAIL("file " << i << " was missed");
    if (i % 2 == 0) ::unlink(path.c_str());
  }
}

TEST_CASE("a file that is created right after an empty scan is found") {
  const Places places;
  LeakScan scan(places);
  scan.mark();
  LeakScan::Mark mark = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string path = places.start_dir + "/" + std::to_string(i);
    if (!found(scan, places, mark).empty()) FAIL("something was found before it was there");
    write_file(path, "");
    if (found(scan, places, mark) != Paths{path}) FAIL("file " << i << " was missed");
    mark = scan.mark();
  }
}

TEST_CASE("sockets are distinguished from files") {
  const Places places;
  LeakScan scan(places);
  scan.mark();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = places.temp_dir + "/socket";
  REQUIRE(path.size() < sizeof address.sun_path);
  std::strcpy(address.sun_path, path.c_str());
  {
    const base::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  }
  write_file(places.temp_dir + "/file", "");
  for (const NewName& name : scan.since(0)) {
    if (name.path == path) CHECK(name.kind == NameKind::Socket);
    if (name.path == places.temp_dir + "/file") CHECK(name.kind == NameKind::File);
  }
  CHECK(found(scan, places).size() == 2);
}

TEST_CASE("a link is found and not followed") {
  const Places places;
  LeakScan scan(places);
  scan.mark();
  REQUIRE(::symlink("/no/such/place", (places.temp_dir + "/link").c_str()) == 0);
  CHECK(found(scan, places) == Paths{places.temp_dir + "/link"});
}

TEST_CASE("directories of runs are not leaks") {
  const Places places;
  LeakScan scan(places);
  scan.mark();
  ::mkdir(places.run_dir().c_str(), 0700);
  ::mkdir((places.temp_dir + "/distrun-0123456789ab").c_str(), 0700);
  CHECK(found(scan, places).empty());
  // A name that merely begins with this run's directory belongs to a rank.
  write_file(places.run_dir() + "-extra", "");
  CHECK(found(scan, places) == Paths{places.run_dir() + "-extra"});
}

TEST_CASE("a name that another file has taken is new") {
  const Places places;
  const std::string path = places.temp_dir + "/x";
  write_file(path, "old");
  LeakScan scan(places);
  scan.mark();
  write_file(places.temp_dir + "/y", "new");
  REQUIRE(::rename((places.temp_dir + "/y").c_str(), path.c_str()) == 0);
  CHECK(found(scan, places) == Paths{path});
}

TEST_CASE("whether a process uses a name is known") {
  const Places places;
  const std::string path = places.temp_dir + "/busy";
  base::Fd open(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(open);
  CHECK(names_in_use({places.temp_dir, places.start_dir}) == std::set<std::string>{path});
  open.reset();
  CHECK(names_in_use({places.temp_dir, places.start_dir}).empty());
}

TEST_CASE("System V objects are found with their creator, as far as the kernel knows it, and can be removed") {
  const Places places;
  LeakScan scan(places);
  const LeakScan::Mark mark = scan.mark();
  const int segment = ::shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
  const int semaphores = ::semget(IPC_PRIVATE, 2, IPC_CREAT | 0600);
  const int queue = ::msgget(IPC_PRIVATE, IPC_CREAT | 0600);
  REQUIRE((segment >= 0 && semaphores >= 0 && queue >= 0));
  ::semctl(semaphores, 1, SETVAL, 1);
  struct {
    long type = 1;
    char text[1] = {'x'};
  } message;
  REQUIRE(::msgsnd(queue, &message, sizeof message.text, 0) == 0);
  int seen = 0;
  for (const NewName& name : scan.since(mark)) {
    if (name.is_path()) continue;
    const SystemVObject& object = name.object;
    const int id = object.kind == SystemVKind::Segment      ? segment
                   : object.kind == SystemVKind::Semaphores ? semaphores
                                                            : queue;
    if (object.id != id) continue;
    ++seen;
    CHECK(std::count(object.pids.begin(), object.pids.end(), ::getpid()) == 1);
    CHECK(name.path.starts_with("System V "));
    CHECK(remove_system_v(object));
  }
  CHECK(seen == 3);
  for (const NewName& name : scan.since(mark)) CHECK((name.is_path() || name.object.id != segment));
}

TEST_CASE("names of other users are not scanned") {
  const Places places;
  LeakScan scan(places);
  scan.mark();
  const std::string path = places.temp_dir + "/theirs";
  write_file(path, "");
  testing::skip_case_if(::chown(path.c_str(), 65534, 65534) != 0, "only root can give a file away");
  CHECK(found(scan, places).empty());
}

TEST_CASE("a directory that is both temp and start directory is scanned once") {
  Places places;
  places.start_dir = places.temp_dir;
  LeakScan scan(places);
  scan.mark();
  write_file(places.temp_dir + "/x", "");
  CHECK(found(scan, places).size() == 1);
}

TEST_CASE("a directory that does not exist, or is removed, has no names") {
  Places places;
  places.start_dir += "/none";
  LeakScan scan(places);
  scan.mark();
  CHECK(found(scan, places).empty());
  REQUIRE(::rmdir(places.temp_dir.c_str()) == 0);
  CHECK(found(scan, places).empty());
}

TEST_CASE("names in shared memory are reported as such", "[alone]") {
  const Places places;
  LeakScan scan(places);
  scan.mark();
  const std::string path = "/dev/shm/distrun_unit_test." + base::random_hex(8);
  write_file(path, "");
  bool seen = false;
  for (const NewName& name : scan.since(0)) seen = seen || (name.path == path && name.kind == NameKind::SharedMemory);
  ::unlink(path.c_str());
  CHECK(seen);
}
