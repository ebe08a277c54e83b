#include <catch2/catch.hpp>

#include <algorithm>

#include <distrun/common/base/elf_file.hpp>

namespace {

using distrun::base::ElfFile;

bool needs(const char* path, const char* library) {
  const auto needed = ElfFile(path).needed();
  return std::find(needed.begin(), needed.end(), library) != needed.end();
}

}  // namespace

TEST_CASE("a program's file names the libraries that it needs") {
  CHECK(needs("/proc/self/exe", "libc.so.6"));
  CHECK_FALSE(needs("/proc/self/exe", "libmpi.so.40"));
}

TEST_CASE("a file that is no ELF file needs nothing") {
  for (const char* const path : {"/proc/self/maps", "/nonexistent", "/dev/null", "/"}) {
    CHECK(ElfFile(path).needed().empty());
    CHECK(ElfFile(path).run_path().empty());
  }
}
