#include <distrun/plugin/rank/plugin_file.hpp>

#include <catch2/catch.hpp>

#include <sys/stat.h>

#include "../../support/error_of.hpp"
#include "../../support/scratch.hpp"

using namespace distrun;
using namespace distrun::rank;

namespace {

// Returns the message about a file with this name and content.
std::string said_of(const std::string& name, const std::string& content) {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/" + name;
  testing::write_file(path, content);
  return testing::error_of([&] { check_plugin_file(path); }).text();
}

// Returns the beginning of an ELF file for that machine, 64-bit or 32-bit.
std::string elf_for(char machine, bool is_wide = true) {
  std::string head(
      "\x7f"
      "ELF",
      4);
  head.resize(64, '\0');
  head[4] = is_wide ? 2 : 1;
  head[18] = machine;
  return head;
}

}  // namespace

TEST_CASE("a file that is not a plugin is refused with its type, and what to do") {
  CHECK_THAT(said_of("a.cpp", "int main() {}"), Catch::Contains("a.cpp is a source file; compile it"));
  CHECK_THAT(said_of("a.so", "#!/bin/sh\n"), Catch::Contains("is a script; to run it on ranks, use 'distrun exec -- "));
  CHECK_THAT(said_of("a.so", "!<arch>\n"), Catch::Contains("is a static library"));
  CHECK_THAT(said_of("a.so", ""), Catch::Contains("is empty"));
  CHECK_THAT(said_of("a.so", "hello"), Catch::Contains("it is not in the ELF format"));
}

TEST_CASE("a library for another processor is refused with both names") {
  CHECK_THAT(said_of("a.so", elf_for('\xb7') + "x"), Catch::Contains("AArch64") && Catch::Contains("build it for"));
  CHECK_THAT(said_of("a.so", elf_for(3, false)), Catch::Contains("was built for 32-bit x86, but this machine is "));
}

TEST_CASE("a path that is not a file is refused with its type, and a FIFO is not waited for") {
  const testing::Scratch scratch;
  const std::string fifo = scratch.path() + "/fifo.so";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK_THAT(testing::error_of([&] { check_plugin_file(fifo); }).text(), Catch::Contains("is a FIFO, not a file"));
  CHECK_THAT(testing::error_of([&] { check_plugin_file(scratch.path()); }).text(), Catch::Contains("is a directory"));
  CHECK_NOTHROW(check_plugin_file(scratch.path() + "/nothing.so"));
}
