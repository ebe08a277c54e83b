#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/held_names.hpp>

#include "../../support/scratch.hpp"

using namespace distrun;

namespace {

std::vector<std::string> held_in(const std::string& directory) {
  std::vector<std::string> paths;
  for (const base::HeldName& name : base::held_names("self", {directory})) paths.push_back(name.path);
  std::sort(paths.begin(), paths.end());
  return paths;
}

using Paths = std::vector<std::string>;

}  // namespace

TEST_CASE("names are held while they are open, mapped, or the current directory, each listed once") {
  const testing::Scratch scratch;
  const std::string top = scratch.directory("a directory");
  testing::write_file(top + "/untouched", "x");
  CHECK(held_in(top).empty());
  const base::Fd open(::open((top + "/open").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const base::Fd twice(::open((top + "/open").c_str(), O_RDONLY | O_CLOEXEC));
  base::Fd file(::open((top + "/mapped file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(::ftruncate(file.get(), 4096) == 0);
  void* const mapping = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file.get(), 0);
  file.reset();
  ::mkdir((top + "/deep").c_str(), 0700);
  const base::Fd below(::open((top + "/deep/er").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  CHECK(held_in(top) == Paths{top + "/deep", top + "/mapped file", top + "/open"});
  ::munmap(mapping, 4096);
  CHECK(held_in(top) == Paths{top + "/deep", top + "/open"});
}

TEST_CASE("a held name has its inode, and a removed one is not listed") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/x";
  const base::Fd open(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  struct stat status {};
  ::fstat(open.get(), &status);
  CHECK(base::held_names("self", {scratch.path()}) ==
        std::vector<base::HeldName>{{path, status.st_dev, status.st_ino}});
  ::unlink(path.c_str());
  CHECK(held_in(scratch.path()).empty());
}

TEST_CASE("a socket holds the name that it was bound to") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/socket";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(path.size() < sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  base::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  CHECK(held_in(scratch.path()) == Paths{path});
  socket.reset();
  CHECK(held_in(scratch.path()).empty());
}

TEST_CASE("a process that does not exist holds no names") {
  CHECK(base::held_names("0", {"/dev/shm", "/tmp"}).empty());
}
