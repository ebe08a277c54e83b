#include <catch2/catch.hpp>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <distrun/runner/mpi/library_path.hpp>
#include <distrun/runner/mpi/linked_mpi.hpp>

#include "support/scratch.hpp"

namespace {

using namespace distrun;
using mpi::Linked;

void append(std::string& bytes, std::uint64_t number, std::size_t size) {
  bytes.append(reinterpret_cast<const char*>(&number), size);
}

// A loader's cache, as ldconfig writes it.
std::string cache_of(const std::vector<std::pair<std::string, std::string>>& libraries) {
  std::string texts;
  std::string entries;
  const std::size_t header = 48;
  const std::size_t begin = header + libraries.size() * 24;
  for (const auto& [library, file] : libraries) {
    append(entries, 0, 4);
    append(entries, begin + texts.size(), 4);
    texts += library + '\0';
    append(entries, begin + texts.size(), 4);
    texts += file + '\0';
    append(entries, 0, 12 - 4);
    append(entries, 0, 4);
  }
  std::string cache = "glibc-ld.so.cache1.1";
  append(cache, libraries.size(), 4);
  cache.resize(header, '\0');
  return cache + entries + texts;
}

}  // namespace

TEST_CASE("the name of a library tells whether its MPI can join a world") {
  for (const char* const name :
       {"libmpi.so.40", "libmpi.so.20", "libmpi_mpifh.so.40", "libmpi_usempif08.so.40", "libpmix.so.2"}) {
    INFO(name);
    CHECK(mpi::linked_by(name) == Linked::Joins);
  }
  for (const char* const name : {"libmpich.so.12", "libmpi.so.12", "libmpifort.so.12"}) {
    INFO(name);
    CHECK(mpi::linked_by(name) == Linked::Alone);
  }
  for (const char* const name : {"libc.so.6", "libmpir.so.3", "libmpfr.so.6", ""}) {
    INFO(name);
    CHECK(mpi::linked_by(name) == Linked::None);
  }
}

TEST_CASE("programs without MPI, scripts and files that do not exist need no world") {
  for (const char* const program : {"/bin/sh", "/etc/passwd", "/nonexistent", "/dev/null", "/"}) {
    INFO(program);
    CHECK(mpi::find_mpi(program, "").how == Linked::None);
  }
}

TEST_CASE("a library is found in the loader's cache") {
  const std::string cache = cache_of({{"libm.so.6", "/lib/libm.so.6"}, {"libmpi.so.40", "/opt/lib/libmpi.so.40"}});
  CHECK(mpi::find_in_loader_cache(cache, "libmpi.so.40") == "/opt/lib/libmpi.so.40");
  CHECK(mpi::find_in_loader_cache("older" + cache, "libm.so.6") == "/lib/libm.so.6");
  CHECK(mpi::find_in_loader_cache(cache, "libmpi.so").empty());
}

TEST_CASE("a loader's cache that is cut short or damaged has no library, and is no danger") {
  const std::string cache = cache_of({{"libm.so.6", "/lib/libm.so.6"}});
  for (std::size_t size = 0; size < cache.size(); ++size) {
    CHECK(mpi::find_in_loader_cache(cache.substr(0, size), "libm.so.6").empty());
  }
  std::string many = cache;
  many[20] = many[21] = many[22] = many[23] = '\xff';
  CHECK(mpi::find_in_loader_cache(many, "libc.so.6").empty());
}

TEST_CASE("folders that a file names come before the cache, and $ORIGIN is its own") {
  const testing::Scratch scratch;
  const std::string folder = scratch.path();
  scratch.directory("bin");
  std::ofstream(folder + "/libx.so.1") << "x";
  const mpi::LibraryPath path("", folder + "/no-cache");
  CHECK(path.find("libx.so.1", folder + "/program", "$ORIGIN") == folder + "/libx.so.1");
  CHECK(path.find("libx.so.1", folder + "/bin/program", "/nonexistent:${ORIGIN}/..") == folder + "/bin/../libx.so.1");
  CHECK(path.find("libx.so.1", folder + "/program", "").empty());
  CHECK(mpi::LibraryPath(folder, folder + "/no-cache").find("libx.so.1", "/bin/sh", "") == folder + "/libx.so.1");
}
