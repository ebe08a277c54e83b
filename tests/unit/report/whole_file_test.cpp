#include <catch2/catch.hpp>

#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/runner/report/files/whole_file.hpp>

#include "scratch.hpp"

using namespace distrun::report;
using namespace distrun::report::samples;

TEST_CASE("a file replaces the old one and leaves no temporary file", "[report]") {
  const Scratch scratch;
  write_whole_file(scratch.path("report"), "old and long");
  write_whole_file(scratch.path("report"), "new");
  CHECK(content_of(scratch.path("report")) == "new");
  CHECK(listing_of(scratch.directory()) == "report ");
}

TEST_CASE("a file keeps the mode of the old one", "[report]") {
  const Scratch scratch;
  write_whole_file(scratch.path("report"), "old");
  REQUIRE(chmod(scratch.path("report").c_str(), 0640) == 0);
  write_whole_file(scratch.path("report"), "new");
  struct stat status {};
  REQUIRE(stat(scratch.path("report").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777U) == 0640U);
}

TEST_CASE("a link to a report stays a link", "[report]") {
  const Scratch scratch;
  write_whole_file(scratch.path("target"), "old");
  std::filesystem::create_symlink("target", scratch.path("link"));
  write_whole_file(scratch.path("link"), "new");
  CHECK(content_of(scratch.path("target")) == "new");
  CHECK(std::filesystem::is_symlink(scratch.path("link")));
}

TEST_CASE("a report that cannot be written names its file and the reason", "[report]") {
  CHECK_THROWS_WITH(write_whole_file("/dev/full", "x"),
                    "cannot write /dev/full: No space left on device (ENOSPC); free some space, or use another path");
  CHECK_THROWS_WITH(write_whole_file("/nowhere/report", "x"),
                    "cannot write /nowhere/report: No such file or directory (ENOENT)");
  CHECK_THROWS_WITH(write_whole_file("/tmp", "x"), "cannot write /tmp: Is a directory (EISDIR)");
}

TEST_CASE("devices, descriptors and FIFOs are written directly", "[report]") {
  write_whole_file("/dev/null", "gone");
  CHECK(std::filesystem::is_character_file("/dev/null"));

  const Scratch scratch;
  const distrun::base::FdPair pipe = distrun::base::make_pipe();
  write_whole_file("/dev/fd/" + std::to_string(pipe.second.get()), "through");
  char buffer[16] = {};
  CHECK(read(pipe.first.get(), buffer, sizeof buffer) == 7);
  CHECK(std::string(buffer) == "through");

  REQUIRE(mkfifo(scratch.path("fifo").c_str(), 0600) == 0);
  const distrun::base::Fd reader(open(scratch.path("fifo").c_str(), O_RDONLY | O_NONBLOCK));
  write_whole_file(scratch.path("fifo"), "again");
  CHECK(read(reader.get(), buffer, sizeof buffer) == 5);
  CHECK(listing_of(scratch.directory()) == "fifo ");
}
