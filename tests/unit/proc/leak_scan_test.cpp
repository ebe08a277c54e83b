#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include <distrun/base/fd.hpp>
#include <distrun/base/rng.hpp>
#include <distrun/proc/leak_scan.hpp>

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

// What it found in the scratch directories; /dev/shm is everybody's.
std::vector<std::string> found(LeakScan& scan, const Places& places) {
  std::vector<std::string> paths;
  for (const NewName& name : scan.look()) {
    if (name.path.starts_with(places.scratch.path())) paths.push_back(name.path);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

using Paths = std::vector<std::string>;

}  // namespace

TEST_CASE("names that appear are found in both directories until they are forgotten") {
  const Places places;
  write_file(places.temp_dir + "/old", "x");
  LeakScan scan(places);
  CHECK(found(scan, places).empty());
  write_file(places.temp_dir + "/new", "x");
  ::mkdir((places.start_dir + "/dir").c_str(), 0700);
  const Paths both{places.start_dir + "/dir", places.temp_dir + "/new"};
  CHECK(found(scan, places) == both);
  CHECK(found(scan, places) == both);
  scan.forget();
  CHECK(found(scan, places).empty());
}

TEST_CASE("a name that vanishes again is no news") {
  const Places places;
  LeakScan scan(places);
  write_file(places.temp_dir + "/x", "");
  ::unlink((places.temp_dir + "/x").c_str());
  CHECK(found(scan, places).empty());
}

TEST_CASE("a file that is made right after forget is found, whatever the grain of the kernel's times") {
  const Places places;
  LeakScan scan(places);
  for (int i = 0; i < 500; ++i) {
    const std::string path = places.temp_dir + "/" + std::to_string(i);
    scan.forget();
    write_file(path, "");
    if (found(scan, places) != Paths{path}) FAIL("file " << i << " was missed");
    if (i % 2 == 0) ::unlink(path.c_str());
  }
}

TEST_CASE("a file that is made right after a look that found nothing is found") {
  const Places places;
  LeakScan scan(places);
  for (int i = 0; i < 500; ++i) {
    const std::string path = places.start_dir + "/" + std::to_string(i);
    if (!found(scan, places).empty()) FAIL("something was found before it was there");
    write_file(path, "");
    if (found(scan, places) != Paths{path}) FAIL("file " << i << " was missed");
    scan.forget();
  }
}

TEST_CASE("sockets are told from files") {
  const Places places;
  LeakScan scan(places);
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
  for (const NewName& name : scan.look()) {
    if (name.path == path) CHECK(name.kind == NameKind::Socket);
    if (name.path == places.temp_dir + "/file") CHECK(name.kind == NameKind::File);
  }
  CHECK(found(scan, places).size() == 2);
}

TEST_CASE("a link is found as it is and not followed") {
  const Places places;
  LeakScan scan(places);
  REQUIRE(::symlink("/no/such/place", (places.temp_dir + "/link").c_str()) == 0);
  CHECK(found(scan, places) == Paths{places.temp_dir + "/link"});
}

TEST_CASE("directories of runs are nobody's leak") {
  const Places places;
  LeakScan scan(places);
  ::mkdir(places.run_dir().c_str(), 0700);
  ::mkdir((places.temp_dir + "/distrun-0123456789ab").c_str(), 0700);
  CHECK(found(scan, places).empty());
  // A name that only begins with this run's directory was made by a rank.
  write_file(places.run_dir() + "-extra", "");
  CHECK(found(scan, places) == Paths{places.run_dir() + "-extra"});
}

TEST_CASE("a file that a process has open is left to it, and found once it is closed") {
  const Places places;
  LeakScan scan(places);
  const std::string path = places.temp_dir + "/busy";
  base::Fd open(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(open);
  CHECK(found(scan, places).empty());
  // Long enough for the directory's time to be beyond doubt.
  while (found(scan, places).empty() && open) {
    struct stat status{};
    timespec now{};
    ::stat(places.temp_dir.c_str(), &status);
    ::clock_gettime(CLOCK_REALTIME, &now);
    const auto ms = [](const timespec& t) { return t.tv_sec * 1000 + t.tv_nsec / 1'000'000; };
    if (ms(now) - ms(status.st_mtim) > 50) open.reset();
  }
  CHECK(found(scan, places) == Paths{path});
}

TEST_CASE("names of other users are not looked at") {
  const Places places;
  LeakScan scan(places);
  const std::string path = places.temp_dir + "/theirs";
  write_file(path, "");
  testing::skip_case_if(::chown(path.c_str(), 65534, 65534) != 0, "only root can give a file away");
  CHECK(found(scan, places).empty());
}

TEST_CASE("a directory that is both temp and start directory is looked at once") {
  Places places;
  places.start_dir = places.temp_dir;
  LeakScan scan(places);
  write_file(places.temp_dir + "/x", "");
  CHECK(found(scan, places).size() == 1);
}

TEST_CASE("a directory that is not there, or goes away, has no names") {
  Places places;
  places.start_dir += "/none";
  LeakScan scan(places);
  CHECK(found(scan, places).empty());
  REQUIRE(::rmdir(places.temp_dir.c_str()) == 0);
  CHECK(found(scan, places).empty());
}

TEST_CASE("names in shared memory are told as such", "[alone]") {
  const Places places;
  LeakScan scan(places);
  const std::string path = "/dev/shm/distrun_unit_test." + base::random_hex(8);
  write_file(path, "");
  bool seen = false;
  for (const NewName& name : scan.look()) seen = seen || (name.path == path && name.kind == NameKind::SharedMemory);
  ::unlink(path.c_str());
  CHECK(seen);
}
